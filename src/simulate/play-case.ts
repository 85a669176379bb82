import { messageOf } from '../base/message-of.js';
import { CannotKnow, NotServed } from './cannot-know.js';
import { type Case, isOfOther, messagesOf, type Step } from './case.js';
import { Platform } from './platform.js';
import { ConnectionLost, type Misshapes, play, type Table } from './play.js';
import type { Players } from './players.js';
import { findMissing, type Profile } from './profile.js';
import type { Result } from './result.js';
import { subjectAt } from './subject.js';

/** The outcome of a case, whether or not the case was played. */
export interface Outcome {
  readonly result: Omit<Result, 'rule' | 'name'>;
  readonly misshapes?: Misshapes;
  readonly notServed?: string;
  /** Set if the history ended because its connection was lost. */
  readonly lost?: ConnectionLost;
}

/** Plays a case with a new player. Rejects with a `PlayersError` if there is none. */
export async function playCase(table: Table, players: Players, one: Case): Promise<Outcome> {
  const steps = playable(one.steps(new Platform()), table.profile);
  const why = whyLeaveOut(table, steps);
  if (why !== undefined) return { result: { verdict: 'skipped', why, messages: 0 } };
  try {
    const player = await players.take();
    const other = steps.some(isOfOther) ? await players.take() : undefined;
    const { deviation, stepAt, misshapes, messages } = await play(table, player, steps, other);
    if (deviation === undefined) return { result: { verdict: 'agrees', messages }, misshapes };
    const isSetUp = deviation.unreadable !== undefined || (stepAt !== undefined && stepAt < subjectAt(one));
    return { result: { verdict: 'differs', messages, deviation, ...(isSetUp && { isSetUp }) }, misshapes };
  } catch (error) {
    if (!(error instanceof CannotKnow)) throw error;
    if (error instanceof ConnectionLost) return { ...unknownOutcome(messageOf(error)), lost: error };
    return { ...unknownOutcome(messageOf(error)), ...(error instanceof NotServed && { notServed: error.path }) };
  }
}

export function endedOutcome(why: string, lost: ConnectionLost): Outcome {
  const { deviation } = lost;
  return { result: { verdict: 'differs', why, isEnd: true, deviation, messages: deviation.history.length }, lost };
}

export function unknownOutcome(why: string): Outcome {
  return { result: { verdict: 'unknown', why, messages: 0 } };
}

function whyLeaveOut({ profile, client }: Table, steps: readonly Step[]): string | undefined {
  const messages = steps.flatMap(messagesOf);
  const missing = findMissing(profile, messages);
  if (missing !== undefined) return `needs ${missing}`;
  if (!client.signs && messages.some(({ signature }) => signature !== undefined)) return 'needs a key';
  return undefined;
}

/** The smallest stake that makes an operator without checkBalance report a balance. */
const PROBE = 1;

/** Replaces checkBalance with a small bet if the operator does not serve it. */
function playable(steps: readonly Step[], { endpoints }: Profile): readonly Step[] {
  if (endpoints.includes('checkBalance')) return steps;
  return steps.map((step, n) => {
    const [message] = messagesOf(step);
    if (message?.endpoint !== 'checkBalance' || message.refusal !== undefined) return step;
    const probe = new Platform().bet(`probe${n}`, PROBE, { roundId: `probe${n}` });
    const { number, envelope } = message;
    return [{ ...probe, number, envelope, ...(isOfOther(step) && { isOfOther: true }) }, step[1]] as const;
  });
}

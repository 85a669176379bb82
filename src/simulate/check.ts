import { messageOf } from '../base/message-of.js';
import type { OnProgress } from '../base/progress.js';
import { CannotKnow, NotServed } from './cannot-know.js';
import { type Case, messagesOf, type Step } from './case.js';
import type { Endpoint } from './message.js';
import { Platform } from './platform.js';
import { type Deviation, type Played, play, type Table } from './play.js';
import type { Players } from './players.js';
import { maybeMissing, type Profile, pathOf } from './profile.js';
import type { RuleName } from './rules.js';

/**
 * Verdicts.
 *
 *   agrees    every answer is right
 *   differs   an answer is wrong
 *   unknown   the history could not be played to its end
 *   skipped   the profile or the run excludes the history
 */
export type Verdict = 'agrees' | 'differs' | 'unknown' | 'skipped';

export interface Result {
  readonly rule: RuleName;
  readonly name: string;
  readonly verdict: Verdict;
  /** Reason why the history is unknown or skipped, or the fault in an answer with wrong fields. */
  readonly why?: string;
  readonly deviation?: Deviation;
  readonly messages: number;
}

/** Number of histories to play concurrently. If this many get no answer at all, the remaining ones are not tried. */
const PLAYED_AT_ONCE = 8;

/**
 * Plays all cases, each with its own player. The results about all answers come first, then those of the cases
 * in order.
 */
export async function check(
  table: Table,
  players: Players,
  cases: readonly Case[],
  onProgress: OnProgress = () => {},
): Promise<Result[]> {
  const results: Result[] = [];
  const notServed = new Set<string>();
  let misshape: Played['misshape'];
  let next = 0;
  let done = 0;
  let unknown = 0;
  let known = 0;
  const playNext = async () => {
    for (let n = next++; n < cases.length; n = next++) {
      const { steps, ...named } = cases[n] as Case;
      if (known === 0 && unknown >= PLAYED_AT_ONCE) {
        results[n] = { ...named, verdict: 'unknown', why: 'not tried: none of the others got an answer', messages: 0 };
        continue;
      }
      const outcome = await playCase(table, players, playable(steps(new Platform()), table.profile));
      misshape ??= outcome.misshape;
      if (outcome.result.verdict === 'unknown') unknown++;
      else if (outcome.result.verdict !== 'skipped') known++;
      if (outcome.notServed !== undefined) notServed.add(outcome.notServed);
      results[n] = { ...named, ...outcome.result };
      onProgress(++done, cases.length);
    }
  };
  await Promise.all(Array.from({ length: PLAYED_AT_ONCE }, playNext));
  if (known === 0 && notServed.size === 0) return results;
  return [...servedResults(table.profile, notServed), shapeResult(misshape), ...results];
}

/** Returns the worst of these verdicts. */
export function verdictOf(results: readonly Pick<Result, 'verdict'>[]): Verdict {
  const worst = (['differs', 'unknown', 'agrees'] as const).find((one) =>
    results.some(({ verdict }) => verdict === one),
  );
  return worst ?? 'skipped';
}

interface Outcome {
  readonly result: Omit<Result, 'rule' | 'name'>;
  readonly misshape?: Played['misshape'];
  readonly notServed?: string;
}

async function playCase(table: Table, players: Players, steps: readonly Step[]): Promise<Outcome> {
  const why = maybeLeaveOut(table, steps);
  if (why !== undefined) return { result: { verdict: 'skipped', why, messages: 0 } };
  const player = await players.take();
  try {
    const { deviation, misshape, messages } = await play(table, player, steps);
    const verdict = deviation === undefined ? 'agrees' : 'differs';
    return { result: { verdict, messages, ...(deviation && { deviation }) }, misshape };
  } catch (error) {
    if (!(error instanceof CannotKnow)) throw error;
    const result = { verdict: 'unknown', why: messageOf(error), messages: 0 } as const;
    return { result, ...(error instanceof NotServed && { notServed: error.path }) };
  }
}

function maybeLeaveOut({ profile, client }: Table, steps: readonly Step[]): string | undefined {
  const messages = steps.flatMap(messagesOf);
  const missing = maybeMissing(profile, messages);
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
    return [{ ...probe, number: message.number, envelope: message.envelope }, step[1]] as const;
  });
}

function servedResults(profile: Profile, notServed: ReadonlySet<string>): Result[] {
  return profile.endpoints.map((endpoint: Endpoint) => {
    const path = pathOf(profile, endpoint);
    const isMissing = notServed.has(path);
    const why = isMissing ? { why: `${path} is not there; name in "endpoints" of a profile what is` } : {};
    const verdict = isMissing ? 'differs' : 'agrees';
    return { rule: 'served', name: `${endpoint} is served`, verdict, messages: 0, ...why };
  });
}

function shapeResult(misshape: Played['misshape']): Result {
  const named = { rule: 'shape', name: 'every answer has the fields of section 2.9', messages: 0 } as const;
  if (misshape === undefined) return { ...named, verdict: 'agrees' };
  return { ...named, verdict: 'differs', why: misshape.says, deviation: misshape.deviation };
}

import type { Message } from '../../src/simulate/message.js';
import type { Step } from './step.js';
import type { Violation } from './violation.js';

/** Number of candidates played concurrently, each with its own player. */
const AT_A_TIME = 8;

/** A history and the promise that its last step breaks. */
export interface Failing {
  readonly steps: readonly Step[];
  readonly violation: Violation;
}

/** Plays the steps with a new player. Resolves to the steps up to the violation; undefined if there is none. */
export type Replay = (steps: readonly Step[]) => Promise<Failing | undefined>;

/**
 * Searches for the shortest history that breaks the same promise, by dropping repeats, chunks of messages, elements and
 * flags that the violation does not need. Ends after `playsMax` replays.
 */
export async function shrink(failing: Failing, replay: Replay, playsMax: number): Promise<Failing> {
  return await new Shrinker(failing, replay, playsMax).run();
}

class Shrinker {
  private plays = 0;

  constructor(
    private smallest: Failing,
    private readonly replay: Replay,
    private readonly playsMax: number,
  ) {}

  async run(): Promise<Failing> {
    let isSmaller = true;
    while (isSmaller && this.plays < this.playsMax) {
      isSmaller = false;
      for (const candidates of [
        onlyLastRepeat,
        withoutChunks,
        withSingleRepeats,
        deliveredOnce,
        withoutElements,
        plainer,
      ]) {
        while (this.plays < this.playsMax && (await this.attempt(candidates(this.smallest.steps)))) isSmaller = true;
      }
    }
    return this.smallest;
  }

  /** Adopts the first candidate that still fails. Returns false if there is none. */
  private async attempt(candidates: readonly (readonly Step[])[]): Promise<boolean> {
    for (let from = 0; from < candidates.length && this.plays < this.playsMax; from += AT_A_TIME) {
      const some = candidates.slice(from, from + AT_A_TIME);
      this.plays += some.length;
      const played = await Promise.all(some.map((steps) => this.replay(steps)));
      const fails = played.find((one) => one !== undefined && isAlike(one.violation, this.smallest.violation));
      if (fails === undefined) continue;
      this.smallest = fails;
      return true;
    }
    return false;
  }
}

/**
 * True if both violations break the same promise. Promises about repeats count as the same, because a second payment
 * may appear in the answer or only in the balance.
 */
function isAlike({ promised: one }: Violation, { promised: other }: Violation): boolean {
  return one === other || (isOfRepeat(one) && isOfRepeat(other));
}

function isOfRepeat(promised: string): boolean {
  return promised.startsWith('a repeat');
}

function onlyLastRepeat(steps: readonly Step[]): Step[][] {
  const last = steps.length - 1;
  const fewer = steps.filter((step, i) => step.type !== 'repeat' || i === last);
  return fewer.length < steps.length ? [fewer] : [];
}

/**
 * Candidates without one chunk of the steps, with chunk sizes from half the steps down to a single step. The last step
 * is always kept.
 */
function withoutChunks(steps: readonly Step[]): Step[][] {
  const candidates: Step[][] = [];
  const count = steps.length - 1;
  for (let size = Math.max(1, count >> 1); size >= 1; size = size === 1 ? 0 : size >> 1) {
    for (let from = 0; from < count; from += size) {
      const to = Math.min(from + size, count);
      candidates.push([...steps.slice(0, from), ...steps.slice(to)]);
    }
  }
  return candidates;
}

function withSingleRepeats(steps: readonly Step[]): Step[][] {
  return steps.flatMap((step, i) => {
    if (step.type !== 'repeat') return [];
    const fewer = step.messages.length > 1 ? step.messages.map((message) => ({ ...step, messages: [message] })) : [];
    return fewer.map((one) => replaced(steps, i, one));
  });
}

function deliveredOnce(steps: readonly Step[]): Step[][] {
  return steps.flatMap((step, i) =>
    step.type === 'send' && step.delivery !== 'once'
      ? [replaced(steps, i, { ...step, delivery: 'once' as const })]
      : [],
  );
}

/** Candidates in which one element is removed from a message, everywhere the message is sent. */
function withoutElements(steps: readonly Step[]): Step[][] {
  return messagesOf(steps).flatMap((message) => {
    if (message.txns.length < 2) return [];
    return message.txns.map((_, n) => exchanged(steps, message, { ...message, txns: message.txns.toSpliced(n, 1) }));
  });
}

const PLAIN: Readonly<Record<string, unknown>> = {
  isEndRound: false,
  skipBalanceUpdate: false,
  transactionType: 'BY_TRANSACTION',
  status: 'OPEN',
  roundId: 'r0',
};

/** Candidates in which one field of a message's elements is set to its usual value. */
function plainer(steps: readonly Step[]): Step[][] {
  return messagesOf(steps).flatMap((message) =>
    Object.entries(PLAIN).flatMap(([field, plain]) => {
      if (field === 'status' && message.endpoint !== 'placeBets') return [];
      const txns = message.txns.map((txn) => (field in txn ? { ...txn, [field]: plain } : txn));
      if (JSON.stringify(txns) === JSON.stringify(message.txns)) return [];
      return [exchanged(steps, message, { ...message, txns })];
    }),
  );
}

function messagesOf(steps: readonly Step[]): Message[] {
  return [...new Set(steps.flatMap((step) => (step.type === 'send' ? [step.message] : [])))];
}

function exchanged(steps: readonly Step[], old: Message, young: Message): Step[] {
  const swap = (message: Message) => (message === old ? young : message);
  return steps.map((step) => {
    if (step.type === 'send') return { ...step, message: swap(step.message) };
    return step.type === 'repeat' ? { ...step, messages: step.messages.map(swap) } : step;
  });
}

function replaced(steps: readonly Step[], at: number, step: Step): Step[] {
  return steps.map((one, i) => (i === at ? step : one));
}

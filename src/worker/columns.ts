import type { CallbackReply } from '../callback/callback-codec.js';
import type { CallbackFailure } from '../callback/failures.js';
import type { SentCallback, TurnTimes } from '../callback/sent-callback.js';
import type { Units } from '../wallet/amount.js';
import type { Endpoint } from '../wallet/command.js';

/*
 * Callbacks and their replies between threads, as columns: their bodies stay text. To copy the objects that are made of
 * them takes 5 us a callback, and this half a microsecond. Bytes would be as fast, but lie outside the heap, and V8
 * collects all of the heap more often for them.
 */

export interface CallbackColumns {
  /** The ids of the others follow. */
  readonly firstId: number;
  readonly endpoints: readonly Endpoint[];
  readonly texts: readonly string[];
  readonly deadlinesMs: readonly number[];
  /** The places of those that a trace follows: as a rule none. */
  readonly traced: readonly number[];
}

const NONE: readonly number[] = [];

export function columnsOf(firstId: number, callbacks: readonly SentCallback[]): CallbackColumns {
  return {
    firstId,
    endpoints: callbacks.map(({ endpoint }) => endpoint),
    texts: callbacks.map(({ text }) => text),
    deadlinesMs: callbacks.map(({ deadlineMs }) => deadlineMs),
    traced: callbacks.some(isTraced) ? [...callbacks.keys()].filter((i) => callbacks[i]?.isTraced) : NONE,
  };
}

function isTraced(callback: SentCallback): boolean {
  return callback.isTraced;
}

/** One of them, on the other side. */
export function callbackAt({ endpoints, texts, deadlinesMs, traced }: CallbackColumns, i: number): SentCallback {
  return {
    endpoint: endpoints[i] as Endpoint,
    text: texts[i] as string,
    deadlineMs: deadlinesMs[i] as number,
    isTraced: traced.length > 0 && traced.includes(i),
  };
}

/** Replies that leave together. */
export class ReplyColumns {
  readonly ids: number[] = [];
  /** Undefined where it was accepted; the next three are of those only. */
  readonly failures: (CallbackFailure | undefined)[] = [];
  readonly befores: Units[] = [];
  readonly afters: Units[] = [];
  readonly areRepeats: boolean[] = [];
  readonly bodies: string[] = [];
  /** Of those that a trace follows, and their places. */
  readonly turns: TurnTimes[] = [];
  readonly traced: number[] = [];

  push(id: number, { answer, body, turn }: CallbackReply): void {
    if (turn !== undefined) {
      this.turns.push(turn);
      this.traced.push(this.ids.length);
    }
    const isAccepted = answer.type === 'accepted';
    this.ids.push(id);
    this.failures.push(isAccepted ? undefined : answer.failure);
    this.befores.push(isAccepted ? answer.before : 0);
    this.afters.push(isAccepted ? answer.after : 0);
    this.areRepeats.push(isAccepted && answer.isRepeat);
    this.bodies.push(body);
  }
}

/** One of them, on the other side. */
export function replyAt(columns: ReplyColumns, i: number): CallbackReply {
  const reply = untracedReplyAt(columns, i);
  return columns.traced.length === 0 ? reply : { ...reply, turn: columns.turns[columns.traced.indexOf(i)] };
}

function untracedReplyAt(columns: ReplyColumns, i: number): CallbackReply {
  const body = columns.bodies[i] as string;
  const failure = columns.failures[i];
  if (failure !== undefined) return { answer: { type: 'failed', failure }, body };
  const before = columns.befores[i] as Units;
  const after = columns.afters[i] as Units;
  return { answer: { type: 'accepted', before, after, isRepeat: columns.areRepeats[i] as boolean }, body };
}

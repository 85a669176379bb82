import type { CallbackReply } from '../callback/callback-codec.js';
import type { CallbackFailure } from '../callback/failures.js';
import type { SentCallback, TurnTimes } from '../callback/sent-callback.js';
import type { Units } from '../wallet/amount.js';
import type { Endpoint } from '../wallet/command.js';

/*
 * The column layout for callbacks and replies that are sent between threads. Bodies stay text. Copying parsed objects
 * takes 5 us per callback, and this layout takes 0.5 us. Byte arrays would be as fast, but they live outside the heap,
 * so V8 would run full garbage collections more often.
 */

export interface CallbackColumns {
  /** The id of the first callback. The ids of the others follow it without a gap. */
  readonly firstId: number;
  readonly endpoints: readonly Endpoint[];
  readonly texts: readonly string[];
  readonly deadlinesMs: readonly number[];
  /** Undefined from a node whose release does not send it. Its callbacks count as signed. */
  readonly areSigned?: readonly boolean[];
  /** Indexes of the traced callbacks. Usually there are none. */
  readonly traced: readonly number[];
}

const NONE: readonly number[] = [];

export function columnsOf(firstId: number, callbacks: readonly SentCallback[]): CallbackColumns {
  return {
    firstId,
    endpoints: callbacks.map(({ endpoint }) => endpoint),
    texts: callbacks.map(({ text }) => text),
    deadlinesMs: callbacks.map(({ deadlineMs }) => deadlineMs),
    areSigned: callbacks.map(({ isSigned }) => isSigned),
    traced: callbacks.some(isTraced) ? [...callbacks.keys()].filter((i) => callbacks[i]?.isTraced) : NONE,
  };
}

function isTraced(callback: SentCallback): boolean {
  return callback.isTraced;
}

/** Returns callback `i` of a received message. */
export function callbackAt(columns: CallbackColumns, i: number): SentCallback {
  const { endpoints, texts, deadlinesMs, areSigned, traced } = columns;
  return {
    endpoint: endpoints[i] as Endpoint,
    text: texts[i] as string,
    deadlineMs: deadlinesMs[i] as number,
    isSigned: areSigned?.[i] ?? true,
    isTraced: traced.length > 0 && traced.includes(i),
  };
}

/** Replies that travel in one message. */
export class ReplyColumns {
  readonly ids: number[] = [];
  /**
   * The reason for a refusal; undefined if the callback was accepted. The next three columns are valid only for
   * accepted callbacks.
   */
  readonly failures: (CallbackFailure | undefined)[] = [];
  readonly befores: Units[] = [];
  readonly afters: Units[] = [];
  readonly areRepeats: boolean[] = [];
  readonly bodies: string[] = [];
  /** Times at which the traced callbacks were decided. `traced` holds their indexes. */
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

/** Returns reply `i` of a received message. */
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

import type { Timers } from '../base/timers.js';
import type { CallbackReply } from '../callback/callback-codec.js';
import type { SentCallback } from '../callback/sent-callback.js';
import { TOO_LATE, UNSURE, UPGRADING } from '../ports/request.js';
import { columnsOf, type ReplyColumns, replyAt } from '../threads/columns.js';
import type { WireRequest, WireResult } from '../threads/protocol.js';
import { isKnownAnswer, isKnownResult } from './known-requests.js';
import type { PeerClocks } from './peer-clocks.js';
import type { PeerMessage } from './peer-protocol.js';
import { type Refusal, type Routed, RoutedCallback, type RoutedRequest, refusalOf } from './routed.js';

export interface PeerCallsDeps {
  readonly clocks: PeerClocks;
  readonly timers: Timers;
  /** Returns false if there is no link. */
  readonly send: (message: PeerMessage) => boolean;
  /** Called if the peer did not execute the request (`moved`), or if it is not known whether it did (`unsure`). */
  readonly onRefused: (routed: Routed, refusal: Refusal) => void;
}

/** Maximum number of unanswered requests to one peer. */
const WAITING_MAX = 100_000;
/** Limits of one message, in callbacks and in characters, so that one message does not occupy the peer for long. */
const PER_MESSAGE = 256;
const MESSAGE_LENGTH = 1_000_000;

/** Requests that this node has sent to one peer. All requests of one event-loop turn travel in one message. */
export class PeerCalls {
  private readonly callbacks = new Map<number, RoutedCallback>();
  private readonly requests = new Map<number, RoutedRequest>();
  /** Callbacks of this turn. They are the newest in `callbacks`, so their ids are consecutive. */
  private newCallbacks: RoutedCallback[] = [];
  private newRequests: WireRequest[] = [];
  private isScheduled = false;
  private nextCallbackId = 1;
  private nextRequestId = 1;

  constructor(
    private readonly tag: string,
    private readonly deps: PeerCallsDeps,
  ) {}

  get waiting(): number {
    return this.callbacks.size + this.requests.size;
  }

  /** Returns false if the request cannot be sent now. */
  trySend(routed: Routed): boolean {
    const { clocks, timers } = this.deps;
    const deadlineMs = clocks.toTheirs(this.tag, routed.deadlineMs);
    if (deadlineMs === undefined || this.waiting >= WAITING_MAX) return false;
    if (routed instanceof RoutedCallback) {
      this.callbacks.set(this.nextCallbackId++, routed);
      this.newCallbacks.push(routed);
    } else {
      const id = this.nextRequestId++;
      this.requests.set(id, routed as RoutedRequest);
      this.newRequests.push({ ...(routed as RoutedRequest).request, deadlineMs, id });
    }
    if (!this.isScheduled) timers.defer(() => this.flush());
    this.isScheduled = true;
    return true;
  }

  /** `nowMs` is a time on this node's monotonic clock. */
  replied(replies: ReplyColumns, nowMs: number): void {
    for (const [i, id] of replies.ids.entries()) {
      const routed = take(this.callbacks, id);
      if (routed === undefined) continue;
      const reply = replyAt(replies, i);
      const refusal = refusalOf(reply.answer);
      if (!isKnownAnswer(reply.answer)) routed.answerBusy(UNSURE);
      else if (refusal === undefined) routed.replier.reply(this.inOurTime(reply), nowMs);
      else this.deps.onRefused(routed, refusal);
    }
  }

  answered(ids: readonly number[], results: readonly WireResult[], nowMs: number): void {
    for (const [i, id] of ids.entries()) {
      const routed = take(this.requests, id);
      if (routed === undefined) continue;
      const result = results[i] as WireResult;
      const refusal = refusalOf(result);
      if (!isKnownResult(result)) routed.answerBusy('query' in routed.request ? UPGRADING : UNSURE);
      else if (!isKnownAnswer(result)) routed.answerBusy(UNSURE);
      else if (refusal === undefined) routed.replier.reply(result, nowMs);
      else this.deps.onRefused(routed, refusal);
    }
  }

  /** Refuses all unanswered requests as unsure, because the peer may have executed them. */
  lost(): void {
    const all = [...this.callbacks.values(), ...this.requests.values()];
    this.callbacks.clear();
    this.requests.clear();
    this.newCallbacks = [];
    this.newRequests = [];
    for (const routed of all) this.deps.onRefused(routed, 'unsure');
  }

  /**
   * Answers requests past their deadline, because their senders no longer wait. Checks every request, because one that
   * was first sent to another node may be older than those ahead of it.
   */
  dropLate(nowMs: number): void {
    for (const waiting of [this.callbacks, this.requests] as readonly Map<number, Routed>[]) {
      for (const [id, routed] of waiting) {
        if (routed.deadlineMs > nowMs) continue;
        waiting.delete(id);
        routed.answerBusy(TOO_LATE);
      }
    }
  }

  private flush(): void {
    const { newCallbacks, newRequests } = this;
    this.isScheduled = false;
    this.newCallbacks = [];
    this.newRequests = [];
    const ahead = this.deps.clocks.toTheirs(this.tag, 0) ?? 0;
    let firstId = this.nextCallbackId - newCallbacks.length;
    let isSent = true;
    for (const portion of portionsOf(newCallbacks.map(({ callback }) => callback))) {
      const columns = columnsOf(firstId, portion);
      const deadlinesMs = columns.deadlinesMs.map((deadlineMs) => deadlineMs + ahead);
      isSent &&= this.deps.send({ type: 'calls', callbacks: { ...columns, deadlinesMs } });
      firstId += portion.length;
    }
    if (newRequests.length > 0) isSent &&= this.deps.send({ type: 'asks', requests: newRequests });
    if (!isSent) this.lost();
  }

  private inOurTime(reply: CallbackReply): CallbackReply {
    const { turn } = reply;
    if (turn === undefined) return reply;
    const ours = (ms: number) => this.deps.clocks.toOurs(this.tag, ms) ?? ms;
    return { ...reply, turn: { startedMs: ours(turn.startedMs), endedMs: ours(turn.endedMs) } };
  }
}

function portionsOf(callbacks: readonly SentCallback[]): SentCallback[][] {
  const portions: SentCallback[][] = [];
  let portion: SentCallback[] = [];
  let length = 0;
  for (const callback of callbacks) {
    if (portion.length === 0 || portion.length >= PER_MESSAGE || length + callback.text.length > MESSAGE_LENGTH) {
      portion = [];
      portions.push(portion);
      length = 0;
    }
    portion.push(callback);
    length += callback.text.length;
  }
  return portions;
}

function take<T>(waiting: Map<number, T>, id: number): T | undefined {
  const one = waiting.get(id);
  waiting.delete(id);
  return one;
}

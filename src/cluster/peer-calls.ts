import type { Timers } from '../base/timers.js';
import type { CallbackReply } from '../callback/callback-codec.js';
import type { SentCallback } from '../callback/sent-callback.js';
import { TOO_LATE, UNSURE, UPGRADING } from '../ports/request.js';
import { columnsOf, type ReplyColumns, replyAt } from '../threads/columns.js';
import { OutgoingRequests, type SendRequests } from '../threads/outgoing-requests.js';
import type { WireResult } from '../threads/protocol.js';
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

/** Limits of one message, in callbacks and in characters, so that one message does not occupy the peer for long. */
const PER_MESSAGE = 256;
const MESSAGE_LENGTH = 1_000_000;

/** Requests that this node has sent to one peer. */
export class PeerCalls {
  private readonly outgoing: OutgoingRequests<RoutedCallback, RoutedRequest>;

  constructor(
    private readonly tag: string,
    private readonly deps: PeerCallsDeps,
  ) {
    this.outgoing = new OutgoingRequests(
      (...requests) => this.send(...requests),
      (run) => deps.timers.defer(run),
    );
  }

  get waiting(): number {
    return this.outgoing.waiting;
  }

  /** Returns false if the request cannot be sent now. */
  trySend(routed: Routed): boolean {
    const deadlineMs = this.deps.clocks.toTheirs(this.tag, routed.deadlineMs);
    if (deadlineMs === undefined || this.outgoing.isFull) return false;
    if (routed instanceof RoutedCallback) this.outgoing.addCallback(routed.callback, routed);
    else this.outgoing.addRequest({ ...(routed as RoutedRequest).request, deadlineMs }, routed as RoutedRequest);
    return true;
  }

  /** `nowMs` is a time on this node's monotonic clock. */
  replied(replies: ReplyColumns, nowMs: number): void {
    for (const [i, id] of replies.ids.entries()) {
      const routed = this.outgoing.takeCallback(id);
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
      const routed = this.outgoing.takeRequest(id);
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
    const { callbacks, requests } = this.outgoing.takeAll();
    for (const routed of [...callbacks, ...requests]) this.deps.onRefused(routed, 'unsure');
  }

  /** Answers requests past their deadline, because their senders no longer wait. */
  dropLate(nowMs: number): void {
    for (const routed of this.outgoing.takeLate(({ deadlineMs }) => deadlineMs <= nowMs)) routed.answerBusy(TOO_LATE);
  }

  private send(...[callbacks, firstId, requests]: Parameters<SendRequests>): void {
    const ahead = this.deps.clocks.toTheirs(this.tag, 0);
    let isSent = true;
    if (ahead === undefined) this.refuse(firstId, callbacks.length);
    else isSent = this.sendCallbacks(callbacks, firstId, ahead);
    if (requests.length > 0) isSent &&= this.deps.send({ type: 'asks', requests });
    if (!isSent) this.lost();
  }

  /** `ahead` is the peer's clock minus ours. Returns false if the link is lost. */
  private sendCallbacks(callbacks: readonly SentCallback[], firstId: number, ahead: number): boolean {
    let nextId = firstId;
    let isSent = true;
    for (const portion of portionsOf(callbacks)) {
      const columns = columnsOf(nextId, portion);
      const deadlinesMs = columns.deadlinesMs.map((deadlineMs) => deadlineMs + ahead);
      isSent &&= this.deps.send({ type: 'calls', callbacks: { ...columns, deadlinesMs } });
      nextId += portion.length;
    }
    return isSent;
  }

  /** Refuses callbacks that cannot be sent because the peer's clock is unknown since a pause of this machine. */
  private refuse(firstId: number, count: number): void {
    for (let id = firstId; id < firstId + count; id++) {
      const routed = this.outgoing.takeCallback(id);
      if (routed !== undefined) this.deps.onRefused(routed, 'moved');
    }
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

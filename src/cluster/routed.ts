import { AnswerOnce } from '../base/answer-once.js';
import type { Logger } from '../base/logger.js';
import type { Replier } from '../base/replier.js';
import type { CallbackReply } from '../callback/callback-codec.js';
import type { SentCallback } from '../callback/sent-callback.js';
import type { NewRequest, WireResult } from '../threads/protocol.js';
import type { Shards } from '../threads/shards.js';
import type { BusyAnswer } from '../wallet/rejection.js';

/** Shards on this node. Requests for other shards are answered `moved`. */
export type LocalShards = Pick<Shards, 'carryOut' | 'execute' | 'ask'>;

/** `moved` means not executed, and `unsure` means possibly executed. */
export type Refusal = 'moved' | 'unsure';

/** Handles requests that a node has refused. */
export interface Rerouter {
  readonly log: Logger;
  refusedHere(routed: Routed, refusal: Refusal): void;
}

/** A request on its way to the owner of its shard, until it is answered. */
export interface Routed {
  shard: number;
  readonly deadlineMs: number;
  /** True if a node may have executed the request. A further attempt may then be a repeat. */
  isDoubtful: boolean;
  carryOutHere(local: LocalShards): void;
  answerBusy(answer: BusyAnswer): void;
}

export class RoutedCallback implements Routed, Replier<CallbackReply> {
  isDoubtful = false;

  constructor(
    /** The shard of the callback; a guess until the text has been parsed. */
    public shard: number,
    readonly callback: SentCallback,
    readonly replier: AnswerOnce<CallbackReply>,
    private readonly rerouter: Rerouter,
  ) {}

  get deadlineMs(): number {
    return this.callback.deadlineMs;
  }

  carryOutHere(local: LocalShards): void {
    // A second answer to this attempt must not start another attempt.
    local.carryOut(this.callback, new AnswerOnce(this, this.rerouter.log));
  }

  reply(reply: CallbackReply, readyMs?: number): void {
    const refusal = refusalOf(reply.answer);
    if (refusal === undefined) this.replier.reply(reply, readyMs);
    else this.rerouter.refusedHere(this, refusal);
  }

  answerBusy(answer: BusyAnswer): void {
    this.replier.reply({ answer, body: '' });
  }
}

export class RoutedRequest implements Routed, Replier<WireResult> {
  isDoubtful = false;

  constructor(
    readonly request: NewRequest,
    readonly replier: AnswerOnce<WireResult>,
    private readonly rerouter: Rerouter,
  ) {}

  get shard(): number {
    return this.request.shard;
  }

  get deadlineMs(): number {
    return this.request.deadlineMs;
  }

  carryOutHere(local: LocalShards): void {
    const { shard, deadlineMs, request } = this;
    const attempt = new AnswerOnce(this, this.rerouter.log);
    if ('command' in request) local.execute(shard, request.command, deadlineMs, attempt);
    else local.ask(shard, request.query, deadlineMs, attempt);
  }

  reply(result: WireResult, readyMs?: number): void {
    const refusal = refusalOf(result);
    if (refusal === undefined) this.replier.reply(result, readyMs);
    else this.rerouter.refusedHere(this, refusal);
  }

  answerBusy(answer: BusyAnswer): void {
    this.replier.reply(answer);
  }
}

/** The refusal after which the request is routed again; undefined for an answer that goes to the sender. */
export function refusalOf(answer: { readonly type: string; readonly failure?: unknown }): Refusal | undefined {
  if (answer.type !== 'failed') return undefined;
  return answer.failure === 'moved' || answer.failure === 'unsure' ? answer.failure : undefined;
}

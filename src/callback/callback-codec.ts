import type { Clock } from '../base/clock.js';
import type { Endpoint } from '../wallet/command.js';
import type { Answer } from '../wallet/decision.js';
import { CALLBACKS } from './callbacks.js';
import type { CallbackFailure, ClosedCodes } from './failures.js';
import { type BodyRefusal, describeRefusal } from './refusal.js';
import { type CodecSettings, type Echo, type ReadRequest, type RequestCodec, requestCodecs } from './request-codec.js';
import { ResponseCodec } from './response-codec.js';
import type { TurnTimes } from './sent-callback.js';

/** Settings that determine the form of answers. */
export interface AnswerRules {
  /** True if the answer to a malformed request explains the error (`callbacks.reason`). */
  readonly includesReason: boolean;
}

/** The outcome of a callback: the answer to its command, or the reason why it has no command. */
export type CallbackAnswer =
  | Extract<Answer, { type: 'accepted' }>
  | { readonly type: 'failed'; readonly failure: CallbackFailure };

export interface CallbackReply {
  readonly answer: CallbackAnswer;
  /** The response body; empty if the callback was refused before its body was read. */
  readonly body: string;
  /** Times at which the command was decided. Present only if the callback is traced. */
  readonly turn?: TurnTimes | undefined;
}

const MALFORMED: CallbackAnswer = { type: 'failed', failure: 'malformed' };
/**
 * The answer to a request whose signature was already used on a different endpoint. It reuses an existing failure,
 * because nodes of the previous release forward such answers and do not know a new one.
 */
export const REPLAYED: CallbackAnswer = { type: 'failed', failure: 'invalid-signature' };

/**
 * Converts a callback's text to a command, and an answer to a response body. It runs in the threads of the shards,
 * because posting text to another thread takes a tenth of the time that posting parsed objects takes.
 */
export class CallbackCodec {
  private readonly responses: ResponseCodec;
  private readonly includesReason: boolean;

  constructor(
    settings: CodecSettings & AnswerRules & { readonly closed: ClosedCodes },
    private readonly clock: Clock,
    /** Compiled request codecs. Compiling is slow, so codecs with the same settings can share them. */
    private readonly requests: Readonly<Record<Endpoint, RequestCodec>> = requestCodecs(settings),
  ) {
    this.includesReason = settings.includesReason;
    this.responses = new ResponseCodec(settings.scales, settings.closed);
  }

  read(endpoint: Endpoint, text: string): ReadRequest {
    return this.requests[endpoint].read(text);
  }

  /** The callback's player or, if the callback is invalid, the reply. */
  addressOf(endpoint: Endpoint, text: string): { readonly username: string } | CallbackReply {
    const request = this.read(endpoint, text);
    return request.command === undefined ? this.malformed(request, request.refusal) : request.command;
  }

  /** The reply to an invalid request. */
  malformed(echo: Echo, refusal: BodyRefusal): CallbackReply {
    if (!this.includesReason) return { answer: MALFORMED, body: this.failure(echo, 'malformed') };
    return { answer: MALFORMED, body: this.responses.malformed(echo, describeRefusal(refusal), this.clock.now()) };
  }

  reply(endpoint: Endpoint, echo: Echo, answer: CallbackAnswer): CallbackReply {
    if (answer.type === 'failed') return { answer, body: this.failure(echo, answer.failure) };
    const nowMs = this.clock.now();
    const body =
      CALLBACKS[endpoint].answer === 'balance'
        ? this.responses.balance(echo, answer.after, nowMs)
        : this.responses.success(echo, answer.before, answer.after, nowMs);
    return { answer, body };
  }

  failure(echo: Pick<Echo, 'id' | 'productId'>, failure: CallbackFailure): string {
    return this.responses.failure(echo, failure, this.clock.now());
  }
}

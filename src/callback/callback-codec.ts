import type { Clock } from '../base/clock.js';
import type { Endpoint } from '../wallet/command.js';
import type { Answer } from '../wallet/decision.js';
import type { Failure } from '../wallet/rejection.js';
import { type CodecSettings, type ReadRequest, type RequestCodec, requestCodecs } from './request-codec.js';
import { type Echo, ResponseCodec } from './response-codec.js';

export interface CallbackReply {
  readonly answer: Answer;
  /** Says it to the platform; empty when whoever answers has not read the callback. */
  readonly body: string;
}

export const MALFORMED: Answer = { type: 'failed', failure: 'malformed' };

/**
 * From the text of a callback to its command, and from the answer to the body that says it. It works where the shards
 * are: to carry text to another thread takes a tenth of the time of carrying the objects that are made of it.
 */
export class CallbackCodec {
  private readonly requests: Readonly<Record<Endpoint, RequestCodec>>;
  private readonly responses: ResponseCodec;

  constructor(
    settings: CodecSettings,
    private readonly clock: Clock,
  ) {
    this.requests = requestCodecs(settings);
    this.responses = new ResponseCodec(settings.scales);
  }

  read(endpoint: Endpoint, text: string): ReadRequest {
    return this.requests[endpoint].read(text);
  }

  /** Whose callback it is; of one that is not valid, its answer. */
  addressOf(endpoint: Endpoint, text: string): { readonly username: string } | CallbackReply {
    const request = this.read(endpoint, text);
    return request.command ?? this.reply(request, MALFORMED);
  }

  reply(echo: Echo, answer: Answer): CallbackReply {
    if (answer.type === 'failed') return { answer, body: this.failure(echo, answer.failure) };
    return { answer, body: this.responses.success(echo, answer.before, answer.after, this.clock.now()) };
  }

  failure(echo: Pick<Echo, 'id' | 'productId'>, failure: Failure): string {
    return this.responses.failure(echo, failure, this.clock.now());
  }
}

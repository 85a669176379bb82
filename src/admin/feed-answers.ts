import type { FastifyReply } from 'fastify';
import type { FeedAnswer, FeedRefusal } from '../feed/request.js';
import { badRequest, Problem } from './problem.js';
import type { AdminRequest } from './route.js';

const PROBLEMS: Readonly<Record<FeedRefusal, readonly [status: number, detail: string]>> = {
  'feed-not-found': [404, 'there is no feed of this name'],
  'feed-differs': [409, 'a feed of this name exists with another filter or another start'],
  'feeds-full': [409, 'there are 32 feeds: delete one that nothing reads'],
  'feed-position-invalid': [400, 'the position must be the `next` of an earlier page of this store'],
  'feed-position-foreign': [
    409,
    'the log does not have the entry of this position: the store was restored or has lost entries; delete the feed and create it again',
  ],
};

/** A signal that ends the wait of a read when the client disconnects or the server shuts down. */
export function endOf(
  raw: AdminRequest<never, never, never>['raw'],
  reply: FastifyReply,
  draining: AbortSignal,
): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  if (raw.socket.destroyed) gone.abort();
  return AbortSignal.any([gone.signal, draining]);
}

/** Returns the answer, unless it is a refusal or a failure. */
export function accepted(answered: FeedAnswer): FeedAnswer {
  if (answered.type === 'failed') throw new Problem(503, `the feed cannot be read: ${answered.reason}`, 'feed-away');
  if (answered.type !== 'refused') return answered;
  const [status, detail] = PROBLEMS[answered.reason];
  if (status === 400) throw badRequest(detail);
  throw new Problem(status, detail, answered.reason);
}

export function expected<T extends FeedAnswer['type']>(
  answered: FeedAnswer,
  type: T,
): Extract<FeedAnswer, { type: T }> {
  if (answered.type !== type) throw new Error(`a ${answered.type} answers the request for a ${type}`);
  return answered as Extract<FeedAnswer, { type: T }>;
}

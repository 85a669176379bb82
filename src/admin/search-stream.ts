import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Logger } from '../base/logger.js';
import { messageOf } from '../base/message-of.js';
import { toJson } from './money.js';
import { Problem } from './problem.js';
import type { SearchLine, StoreQuery, StoreSearch, StoreSearcher } from './store-searcher.js';

export const SHUTTING_DOWN = new Problem(503, 'the server is shutting down', 'shutting-down');

export function mustBegin(searcher: StoreSearcher, query: StoreQuery): StoreSearch {
  const search = searcher.tryBegin(query);
  if (search !== undefined) return search;
  throw new Problem(
    409,
    'this node is reading its store for another search: wait until it has ended',
    'search-under-way',
  );
}

/**
 * Streams each line as JSON as soon as the search yields it. The search ends when the answer is complete or its client
 * disconnects.
 */
export function sendLines(
  reply: FastifyReply,
  { lines, stop }: StoreSearch,
  bodyOf: (line: SearchLine) => object,
  log: Logger,
): FastifyReply {
  reply.raw.once('close', stop);
  // Without this header, a proxy would buffer the answer.
  reply.headers({ 'Content-Type': 'application/x-ndjson', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
  return reply.send(Readable.from(written(lines, bodyOf, log)));
}

/**
 * Yields the lines as text. The status has already been sent, so a later error becomes a line that reports how far the
 * search got.
 */
async function* written(
  lines: AsyncIterable<SearchLine>,
  bodyOf: (line: SearchLine) => object,
  log: Logger,
): AsyncGenerator<string> {
  let done = 0;
  let hits = 0;
  let failure: string | undefined = 'the client has disconnected';
  try {
    for await (const line of lines) {
      if (line.type === 'progress') done = line.done;
      if (line.type === 'hit' || line.type === 'event') hits++;
      if (line.type === 'failed') throw new Error(line.reason);
      if (line.type === 'end') failure = undefined;
      yield `${toJson(bodyOf(line))}\n`;
    }
  } catch (error) {
    failure = messageOf(error);
    yield `${toJson({ type: 'failed', reason: failure, done })}\n`;
  } finally {
    if (failure === undefined) log.info({ hits }, 'search ended');
    else log.warn({ code: 'search-cut', hits, done, reason: failure }, 'search cut off');
  }
}

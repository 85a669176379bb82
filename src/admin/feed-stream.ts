import { Readable } from 'node:stream';
import { object } from '../base/json-schema.js';
import { accepted, endOf, expected } from './feed-answers.js';
import { EVENTS_MAX, feedName, readAfter } from './feed-fields.js';
import type { FeedService } from './feed-service.js';
import { wholeNumber } from './fields.js';
import { answer } from './openapi.js';
import { Problem } from './problem.js';
import { type Route, route } from './route.js';
import { problemSchema, ref } from './schemas.js';
import { SHUTTING_DOWN } from './search-stream.js';

const STREAMS_MAX = 16;
/** A line is sent at least this often. Less than the time after which a silent connection is closed. */
const WAIT_MS = 15_000;
/** The maximum duration of a stream. After it, the client connects again with a token that may have been revoked. */
const STREAM_MS_MAX = 600_000;

type ReadPage = (
  after: string | undefined,
  waitMs: number,
) => Promise<{ readonly json: string; readonly next: string }>;

/** A route that sends one page of events after the other, as lines of JSON. */
export function feedStreamRoute(feeds: FeedService, draining: AbortSignal): Route {
  let streams = 0;
  return route('GET', '/v1/feeds/{name}/stream', {
    operationId: 'streamFeedEvents',
    tag: 'feeds',
    summary: 'Pages of events after a position, one JSON object per line, for up to ten minutes',
    params: object({ name: feedName }),
    query: object(
      {},
      {
        after: readAfter,
        limit: wholeNumber(1, EVENTS_MAX, EVENTS_MAX, 'Maximum number of events per page.'),
      },
    ),
    responses: {
      200: answer(
        'Pages, at least one every 20 seconds. A problem as the last line: the stream ended early',
        { oneOf: [ref('FeedPage'), problemSchema] },
        'application/x-ndjson',
      ),
    },
    problems: [400, 404, 409],
    isStream: true,
    handle: async ({ params: { name }, query: { after: start, limit = EVENTS_MAX }, raw }, reply) => {
      if (draining.aborted || raw.socket.destroyed) throw SHUTTING_DOWN;
      if (streams >= STREAMS_MAX) {
        throw new Problem(503, `${STREAMS_MAX} streams of feeds are open: read pages instead`, 'overloaded');
      }
      streams++;
      reply.raw.once('close', () => streams--);
      const end = endOf(raw, reply, draining);
      const read: ReadPage = async (after, waitMs) =>
        expected(accepted(await feeds.ask({ type: 'read', name, after, limit, waitMs }, end)), 'page');
      // A refusal needs its status, so await the first page, for which the process may load the currencies of all
      // players. Meanwhile, keep Node from closing the silent connection.
      const keepOpen = () => {};
      reply.raw.on('timeout', keepOpen);
      const first = await read(start, 0);
      reply.raw.off('timeout', keepOpen);
      // Without this header, a proxy would buffer the answer.
      reply.headers({ 'Content-Type': 'application/x-ndjson', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
      const endsMs = performance.now() + STREAM_MS_MAX;
      const isOver = () => end.aborted || performance.now() > endsMs;
      return reply.send(pageLines(first, read, isOver));
    },
  });
}

/** Pages as lines, which are read only as fast as the client takes them. */
export function pageLines(first: Awaited<ReturnType<ReadPage>>, read: ReadPage, isOver: () => boolean): Readable {
  return Readable.from(linesOf(first, read, isOver), { highWaterMark: 1 });
}

/**
 * Yields pages as lines. The next page is read once the client has taken the previous one, so a slow client holds two
 * pages of memory. The status has already been sent, so a later problem becomes the last line.
 */
async function* linesOf(
  first: Awaited<ReturnType<ReadPage>>,
  read: ReadPage,
  isOver: () => boolean,
): AsyncGenerator<string> {
  let page = first;
  while (true) {
    yield `${page.json}\n`;
    if (isOver()) return;
    try {
      page = await read(page.next, WAIT_MS);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      yield `${JSON.stringify(error)}\n`;
      return;
    }
  }
}

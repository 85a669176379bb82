import { array, choice, object, string } from '../base/json-schema.js';
import { FEED_EVENT_TYPES } from '../feed/event.js';
import type { Feed, FeedRequest, FeedWithLag } from '../feed/request.js';
import type { AdminDeps } from './admin-deps.js';
import { atOnce } from './at-once.js';
import { accepted, endOf, expected } from './feed-answers.js';
import { EVENTS_MAX, feedName, POSITION_LENGTH_MAX, readAfter } from './feed-fields.js';
import { feedStreamRoute } from './feed-stream.js';
import { currency, id, wholeNumber } from './fields.js';
import { answer } from './openapi.js';
import { type Route, route } from './route.js';
import { exactly, list, ref, text } from './schemas.js';
import { SHUTTING_DOWN } from './search-stream.js';

const LIMIT_DEFAULT = 100;
/** Less than the time after which a silent connection is closed. */
const WAIT_SECONDS_MAX = 20;
/** Limits concurrent reads: one for each feed, and some that a consumer has repeated. */
const READS_MAX = 48;
/** Limits other concurrent requests. */
const OTHERS_MAX = 16;
const FILTER_MAX = 100;

const position = string({ maxLength: POSITION_LENGTH_MAX, message: 'must be the `next` of an earlier page' });
const items = { maxItems: FILTER_MAX, message: `must be a list of at most ${FILTER_MAX} values` };
const filter = object(
  {},
  {
    types: array(choice(FEED_EVENT_TYPES, { message: 'must be types of events' }), items),
    products: array(id, items),
    currencies: array(currency, items),
  },
  {
    additionalProperties: false,
    description: 'An absent or empty list does not restrict.',
    message: 'must have only the lists types, products and currencies',
  },
);
const NEVER = new AbortController().signal;

/** Routes of the event feed: consumers with names, their events and their acknowledgements. */
export function feedRoutes({ feeds }: Pick<AdminDeps, 'feeds'>, draining: AbortSignal): Route[] {
  const reading = atOnce(READS_MAX, 'reads of feeds');
  const others = atOnce(OTHERS_MAX, 'requests about feeds');
  const ask = (request: FeedRequest) => others(async () => accepted(await feeds.ask(request, NEVER)));
  const params = object({ name: feedName });

  return [
    route('POST', '/v1/feeds', {
      operationId: 'createFeed',
      tag: 'feeds',
      summary: 'Creates a feed of events for a named consumer; the same request again changes nothing',
      body: object(
        { name: feedName },
        {
          filter,
          from: string({
            default: 'now',
            maxLength: POSITION_LENGTH_MAX,
            description: '`now`: later events only. `start`: all events that the log still has. Otherwise a position.',
            message: 'must be now, start or a position',
          }),
        },
      ),
      responses: {
        200: answer('The feed existed already', ref('Feed')),
        201: answer('The feed was created', ref('Feed')),
      },
      problems: [400, 403, 409, 413, 415],
      handle: async ({ body: { name, filter = {}, from = 'now' } }, reply) => {
        const { feed, isNew } = expected(await ask({ type: 'create', name, filter, from }), 'feed');
        reply.status(isNew ? 201 : 200);
        return feedBody(feed);
      },
    }),
    route('GET', '/v1/feeds', {
      operationId: 'listFeeds',
      tag: 'feeds',
      summary: 'All feeds by name, with their acknowledged positions and lags',
      responses: {
        200: answer('All feeds', exactly({ feeds: list(ref('FeedWithLag')), timelines: list(ref('Timeline')) })),
      },
      handle: async () => {
        const { feeds, timelines } = expected(await ask({ type: 'list' }), 'feeds');
        const shown = timelines.map(({ id, createdMs, after }) => ({ id, createdMillis: createdMs, after }));
        return { feeds: feeds.map(feedWithLagBody), timelines: shown };
      },
    }),
    route('GET', '/v1/feeds/{name}', {
      operationId: 'readFeed',
      tag: 'feeds',
      summary: 'A feed, with its acknowledged position and lag',
      params,
      responses: { 200: answer('The feed', ref('FeedWithLag')) },
      problems: [400, 404],
      handle: async ({ params: { name } }) => {
        const [feed] = expected(await ask({ type: 'find', name }), 'feeds').feeds;
        return feedWithLagBody(feed as FeedWithLag);
      },
    }),
    route('DELETE', '/v1/feeds/{name}', {
      operationId: 'deleteFeed',
      tag: 'feeds',
      summary: 'Deletes a feed and its position',
      params,
      responses: { 200: answer('Deleted', exactly({ name: text })) },
      problems: [400, 403, 404],
      handle: async ({ params: { name } }) => {
        expected(await ask({ type: 'remove', name }), 'removed');
        return { name };
      },
    }),
    route('GET', '/v1/feeds/{name}/events', {
      operationId: 'readFeedEvents',
      tag: 'feeds',
      summary: 'Events after a position, in the order of each player',
      params,
      query: object(
        {},
        {
          after: readAfter,
          limit: wholeNumber(1, EVENTS_MAX, LIMIT_DEFAULT, 'Maximum number of events.'),
          wait: wholeNumber(0, WAIT_SECONDS_MAX, 0, 'Seconds to wait if there is no event yet.'),
        },
      ),
      responses: { 200: answer('A page, which may be empty', ref('FeedPage')) },
      problems: [400, 404, 409],
      handle: async ({ params: { name }, query: { after, limit = LIMIT_DEFAULT, wait = 0 }, raw }, reply) => {
        if (draining.aborted) throw SHUTTING_DOWN;
        const request: FeedRequest = { type: 'read', name, after, limit, waitMs: wait * 1000 };
        // The first read loads the currencies of all players. This listener keeps Node from closing the silent
        // connection.
        reply.raw.on('timeout', () => {});
        const page = await reading(async () => accepted(await feeds.ask(request, endOf(raw, reply, draining))));
        return reply.type('application/json; charset=utf-8').send(expected(page, 'page').json);
      },
    }),
    feedStreamRoute(feeds, draining),
    route('POST', '/v1/feeds/{name}/ack', {
      operationId: 'acknowledgeFeed',
      tag: 'feeds',
      summary: 'Acknowledges all events up to a position; an older position changes nothing',
      params,
      body: object({ position }),
      responses: { 200: answer('The position is durable', ref('Feed')) },
      problems: [400, 403, 404, 413, 415],
      handle: async ({ params: { name }, body: { position } }) =>
        feedBody(expected(await ask({ type: 'acknowledge', name, position }), 'feed').feed),
    }),
  ];
}

function feedBody({ name, filter, from, position, createdMs, acknowledgedMs }: Feed): object {
  return { name, filter, from, position, createdMillis: createdMs, acknowledgedMillis: acknowledgedMs ?? null };
}

function feedWithLagBody(feed: FeedWithLag): object {
  const { entries, bytes, ms } = feed.lag;
  return { ...feedBody(feed), lag: { entries, bytes, millis: ms } };
}

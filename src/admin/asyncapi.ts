import { asPublished } from '../base/json-schema.js';
import { FEED_EVENT_TYPES, feedEventSchema } from '../feed/event.js';
import { operatorSchemas } from './schemas.js';

/** The version of the events' format. A new type or field raises its second number. */
const FORMAT_VERSION = '1.0.0';
const EVENT = { $ref: '#/components/schemas/FeedEvent' };

/** The name of a type as a key of the document: `bet.placed`. */
const keyOf = (type: string) => type.replace('walletd.', '');

/** AsyncAPI document of the event feed: the stream of the operator API, and what `walletd feed` pushes. */
export function asyncapiDocument(): object {
  const { FeedPage, Problem } = operatorSchemas;
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'walletd event feed',
      version: FORMAT_VERSION,
      description: 'Events of all players, at least once and in the order of each player. docs/feed.md has the rules.',
      license: { name: 'UNLICENSED' },
    },
    defaultContentType: 'application/json',
    servers: {
      operatorApi: {
        host: '{host}:{port}',
        protocol: 'http',
        description: 'The operator API, with http or https.',
        variables: { host: { default: '127.0.0.1' }, port: { default: '3001' } },
        security: [{ $ref: '#/components/securitySchemes/operatorToken' }],
      },
      sink: {
        host: '{host}',
        protocol: 'https',
        description:
          'The sink that `walletd feed --to` names: a webhook, or Redis, NATS or AMQP in their own protocols.',
        variables: { host: {} },
      },
    },
    channels: {
      stream: {
        address: '/v1/feeds/{name}/stream',
        servers: [{ $ref: '#/servers/operatorApi' }],
        description: 'Lines of JSON: pages of events, and a problem as the last line if the stream ends early.',
        parameters: { name: { description: 'The name of the feed.' } },
        messages: {
          page: { $ref: '#/components/messages/page' },
          problem: { $ref: '#/components/messages/problem' },
        },
      },
      push: {
        servers: [{ $ref: '#/servers/sink' }],
        description: 'One message per event. The type is the subject in NATS and the routing key in AMQP.',
        messages: Object.fromEntries(
          FEED_EVENT_TYPES.map((type) => [keyOf(type), { $ref: `#/components/messages/${keyOf(type)}` }]),
        ),
      },
    },
    operations: {
      streamPages: {
        action: 'send',
        channel: { $ref: '#/channels/stream' },
        summary: 'Sends pages of events to the consumer of a feed.',
      },
      pushEvents: {
        action: 'send',
        channel: { $ref: '#/channels/push' },
        summary: 'Sends events to a webhook, a Redis stream, NATS JetStream, AMQP 0.9.1 or stdout.',
      },
    },
    components: {
      securitySchemes: { operatorToken: { type: 'http', scheme: 'bearer' } },
      messages: {
        page: { name: 'page', contentType: 'application/json', payload: { $ref: '#/components/schemas/FeedPage' } },
        problem: {
          name: 'problem',
          contentType: 'application/json',
          payload: { $ref: '#/components/schemas/Problem' },
        },
        ...Object.fromEntries(FEED_EVENT_TYPES.map((type) => [keyOf(type), messageOf(type)])),
      },
      schemas: { FeedEvent: asPublished(feedEventSchema), FeedPage, Problem },
    },
  };
}

function messageOf(type: string): object {
  const payload = { allOf: [EVENT, { type: 'object', properties: { type: { const: type } } }] };
  return { name: type, contentType: 'application/cloudevents+json', payload };
}

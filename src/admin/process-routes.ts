import type { AdminDeps } from './admin-deps.js';
import { asyncapiDocument } from './asyncapi.js';
import { answer } from './openapi.js';
import { type Route, route } from './route.js';
import { exactly, list, ref, text } from './schemas.js';

const readiness = (...statuses: readonly string[]) =>
  exactly({ status: { enum: statuses }, shards: list(ref('Shard')) });

/** Routes about the process rather than a player: health, metrics, and the OpenAPI and AsyncAPI documents. */
export function processRoutes({ service, observability }: AdminDeps, openapi: () => object): Route[] {
  return [
    route('GET', '/livez', {
      operationId: 'isLive',
      tag: 'health',
      summary: 'Whether the process is running',
      isOpen: true,
      responses: { 200: answer('It does', exactly({ status: { const: 'ok' } })) },
      handle: async () => ({ status: 'ok' }),
    }),
    route('GET', '/readyz', {
      operationId: 'isReady',
      tag: 'health',
      summary: 'Whether new bets are accepted; callers with the right to read also get the state of each shard',
      isOpen: true,
      isForMonitors: true,
      responses: {
        200: answer(
          'Ready for callbacks: every shard has recovered once, or the node is a member of its cluster',
          readiness('ready'),
        ),
        503: answer(
          'Not ready. `warming-up`: the node executes callbacks of its own before it takes its shards. `archive-unknown`: the keys of archived rounds are unknown, and the archive does not answer',
          readiness('starting', 'warming-up', 'archive-unknown'),
        ),
      },
      handle: async (request, reply) => {
        const { readiness } = service;
        reply.status(readiness === 'ready' ? 200 : 503);
        return { status: readiness, shards: request.isKnown() ? service.status() : [] };
      },
    }),
    route('GET', '/metrics', {
      operationId: 'scrape',
      tag: 'operations',
      summary: 'Metrics in the text format of Prometheus, version 0.0.4',
      isForMonitors: true,
      responses: { 200: answer('Metrics', text, 'text/plain') },
      handle: async (_request, reply) => {
        const { type, text } = await observability.metrics();
        // Without this serializer, the framework would encode the text as a JSON string.
        reply.serializer((payload: unknown) => String(payload));
        return reply.type(type).send(text);
      },
    }),
    route('GET', '/openapi.json', {
      operationId: 'describe',
      tag: 'operations',
      summary: 'This document',
      isForMonitors: true,
      responses: {
        200: answer('An OpenAPI document', { type: 'object', required: ['openapi'], properties: { openapi: text } }),
      },
      handle: async () => openapi(),
    }),
    route('GET', '/asyncapi.json', {
      operationId: 'describeEvents',
      tag: 'feeds',
      summary: 'The messages of the event feed',
      isForMonitors: true,
      responses: {
        200: answer('An AsyncAPI document', { type: 'object', required: ['asyncapi'], properties: { asyncapi: text } }),
      },
      handle: async () => asyncapiDocument(),
    }),
  ];
}

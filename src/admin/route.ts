import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type NoProperties, type ObjectSchema, object } from '../base/json-schema.js';
import type { Operator } from '../wallet/state/operation.js';

/** A request that has been validated against the route's schemas. */
export interface AdminRequest<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly operator: Operator;
  /** Whether the caller has read access. Used by open routes, which need no token. */
  isKnown(): boolean;
  readonly raw: FastifyRequest['raw'];
}

type Handle<P, Q, B> = (request: AdminRequest<P, Q, B>, reply: FastifyReply) => Promise<unknown>;

/** OpenAPI description of a route, apart from its schemas. */
export interface RouteDocument {
  readonly operationId: string;
  readonly tag: 'players' | 'transactions' | 'feeds' | 'operations' | 'cluster' | 'health';
  readonly summary: string;
  /** Answers by HTTP status; see `answer` in openapi.ts. */
  readonly responses: Readonly<Record<number, object>>;
  /** Statuses of possible problems, in addition to 401, 429, 500 and 503. */
  readonly problems?: readonly number[];
  /** True if the route needs no token. */
  readonly isOpen?: true;
  /** True if the answer shows no player and no balance, so that the role `monitor` may read it. */
  readonly isForMonitors?: true;
  /** The schema of each line, if the body is a stream of lines. Otherwise the body is one JSON object. */
  readonly lines?: ObjectSchema;
  /**
   * True if the answer is streamed while the work is in progress. Such a route does not support HEAD, whose answer
   * would end at once and waste the work.
   */
  readonly isStream?: true;
}

/** One operation of the operator API: method and path, input, answer, and handler. */
export interface Route extends RouteDocument {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** The path in OpenAPI's notation: `/v1/players/{username}`. */
  readonly path: string;
  readonly params: ObjectSchema;
  readonly query: ObjectSchema;
  /** The schema of the body; undefined if the body is ignored. */
  readonly body: ObjectSchema | undefined;
  readonly handle: Handle<never, never, never>;
}

interface Definition<P, Q, B> extends RouteDocument {
  readonly params?: ObjectSchema<P>;
  readonly query?: ObjectSchema<Q>;
  readonly body?: ObjectSchema<B>;
  readonly handle: Handle<P, Q, B>;
}

const NOTHING = object({});

export function route<P = NoProperties, Q = NoProperties, B = undefined>(
  method: Route['method'],
  path: string,
  definition: Definition<P, Q, B>,
): Route {
  const { params = NOTHING, query = NOTHING, body } = definition;
  return { ...definition, method, path, params, query, body };
}

/** Registers a route with the framework, which validates requests against the route's schemas. */
export function addRoute(
  app: FastifyInstance,
  { method, path, params, query, body, isOpen, isForMonitors, isStream, handle }: Route,
): void {
  app.route({
    method,
    exposeHeadRoute: isStream !== true,
    // The framework writes {username} as :username, and a literal colon as two colons.
    url: path.replace(':', '::').replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { route: `${method} ${path}`, ...(isOpen && { isOpen }), ...(isForMonitors && { isForMonitors }) },
    schema: { params, querystring: query, ...(body !== undefined && { body }) },
    handler: (request, reply) =>
      handle(
        {
          params: request.params as never,
          query: request.query as never,
          body: request.body as never,
          operator: request.operator,
          isKnown: () => request.isKnown(),
          raw: request.raw,
        },
        reply,
      ),
  });
}

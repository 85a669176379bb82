import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type NoProperties, type ObjectSchema, object } from '../base/json-schema.js';
import type { Operator } from '../wallet/state/operation.js';

/** A request that fits the route's schemas. */
export interface AdminRequest<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly operator: Operator;
  /** Whether somebody asks who may read; for routes that anybody may ask. */
  isKnown(): boolean;
  readonly raw: FastifyRequest['raw'];
}

type Handle<P, Q, B> = (request: AdminRequest<P, Q, B>, reply: FastifyReply) => Promise<unknown>;

/** What the OpenAPI document says about a route, beside its schemas. */
export interface RouteDocument {
  readonly operationId: string;
  readonly tag: 'players' | 'transactions' | 'operations' | 'cluster' | 'health';
  readonly summary: string;
  /** By status; see `answer` in openapi.ts. */
  readonly responses: Readonly<Record<number, object>>;
  /** Statuses of the problems that it can have, beside 401, 429, 500 and 503. */
  readonly problems?: readonly number[];
  /** Anybody may ask: it needs no token. */
  readonly isOpen?: true;
  /** A body that is a stream of lines, each of which fits this schema; else the body is one JSON object. */
  readonly lines?: ObjectSchema;
  /** Its answer comes as it is found: HEAD, over before that, would have the work done for nobody. */
  readonly isStream?: true;
}

/** One operation of the operator API: where it is, what it takes, what it answers, and what it does. */
export interface Route extends RouteDocument {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** As OpenAPI writes it: `/v1/players/{username}`. */
  readonly path: string;
  readonly params: ObjectSchema;
  readonly query: ObjectSchema;
  /** Undefined: what is sent is not looked at. */
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

/** Has the framework check requests by the route's schemas and hand them to it. */
export function addRoute(
  app: FastifyInstance,
  { method, path, params, query, body, isOpen, isStream, handle }: Route,
): void {
  app.route({
    method,
    exposeHeadRoute: isStream !== true,
    // The framework writes {username} as :username, and a colon that stands for itself as two.
    url: path.replace(':', '::').replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { route: `${method} ${path}`, ...(isOpen && { isOpen }) },
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

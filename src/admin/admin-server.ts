import { isUtf8 } from 'node:buffer';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { ObjectSchema } from '../base/json-schema.js';
import { ONLY_TLS, UNCACHED } from '../listener/answer-headers.js';
import { ServerGuard } from '../listener/server-guard.js';
import { TLS_CIPHERS } from '../listener/tls-ciphers.js';
import type { Operator } from '../wallet/state/operation.js';
import type { AdminDeps, Certificate, OperatorToken } from './admin-deps.js';
import { approvalRoutes } from './approvals.js';
import { auditRoute } from './audit.js';
import { Authentication } from './authentication.js';
import { cannotListen } from './cannot-listen.js';
import { clusterRoutes } from './cluster.js';
import { addConsole } from './console/console.js';
import { LiveFeed } from './console/live-feed.js';
import { feedRoutes } from './feeds.js';
import { findRoute } from './find.js';
import { findPlayersRoute } from './find-players.js';
import { importRoute, LINES_TYPES, NO_LINES } from './import-players.js';
import { limitBody } from './limit-body.js';
import { toJson } from './money.js';
import { MoneyByHand } from './money-by-hand.js';
import { operatorPaths } from './openapi.js';
import { operationsRoute } from './operations.js';
import { playerLogRoute } from './player-log.js';
import { playerRoundsRoute } from './player-rounds.js';
import { playerRoutes } from './players.js';
import { badRequest, Problem, unsupportedMediaType } from './problem.js';
import { processRoutes } from './process-routes.js';
import { addRoute, type Route } from './route.js';
import { operatorSchemas } from './schemas.js';
import { addServerProof } from './server-proof.js';
import { settingsRoute } from './settings.js';
import { shardPlayersRoute } from './shard-players.js';
import { snapshotRoutes } from './snapshots.js';
import { ledgerRoutes } from './tallies.js';
import { THROTTLE_SECONDS } from './token-throttle.js';
import { transactionRoutes } from './transactions.js';
import { validatorOf } from './validation.js';
import { verifyRoutes } from './verify.js';

const BODY_BYTES_MAX = 64 * 1024;
/** Maximum length of a path parameter: a username of 256 four-byte characters, each byte encoded as %xx. */
const PARAM_LENGTH_MAX = 256 * 4 * 3;
/** Time limits in ms; tests shorten them. */
export const TIMES = {
  /** Limit for the headers, including any TLS handshake before them. */
  headers: 10_000,
  /** Limit for a complete body. An import may take longer while data keeps arriving. */
  body: 60_000,
  /** Limit for a complete request. Disabled, because an import may take hours; `body` limits all other requests. */
  request: 0,
  /**
   * Limit for a connection with no traffic in either direction. Without this limit, a client that does not read its
   * answers would occupy a connection forever.
   */
  silence: 30_000,
  /** Interval at which Node checks connections against `headers` and `request`. */
  check: 1000,
};
/** One address may use half of the connections, because a proxy may need that many. */
const CONNECTION_LIMITS = { connectionsMax: 1000, perAddressMax: 500 };
/** Node parser errors that have their own HTTP status. */
const UNREADABLE: Readonly<Record<string, number>> = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 };
const RETRY_AFTER_SECONDS = '1';
const NO_JSON = unsupportedMediaType('JSON with Content-Type: application/json');

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The method and path, as in the OpenAPI document. */
    route?: string;
    /** True if no token is needed, as for the console's page and its sign-in check. */
    isOpen?: true;
    /** True if the role `monitor` may read the route. */
    isForMonitors?: true;
  }
  interface FastifyRequest {
    /** The operator who sent the request; undefined for health routes, which need no token. */
    operator: Operator;
    /** True if the caller has read access. Used by open routes that show more to such callers. */
    isKnown(): boolean;
  }
}

/** The operators' listener: players, transactions, health and the console. */
export class AdminServer {
  private readonly app: FastifyInstance;
  private readonly guard: ServerGuard;
  private readonly feed: LiveFeed;
  private readonly authentication: Authentication;
  private readonly draining = new AbortController();
  /** Per connection, the answer to its newest request, until that answer has been sent completely. */
  private readonly asking = new Map<Socket, ServerResponse>();

  constructor(private readonly deps: AdminDeps) {
    const routes = this.routes();
    this.feed = new LiveFeed(deps.overview);
    const authentication = new Authentication(deps.settings, deps.clock, deps.log, deps.observer, deps.signedOut);
    // Close the feed on a sign-out, so that all pages reconnect. A page whose session has ended must then sign in
    // again.
    deps.signedOut.onNews(() => this.feed.close());
    this.authentication = authentication;
    const { tls } = deps.settings;
    const protection = tls === undefined ? UNCACHED : { ...UNCACHED, ...ONLY_TLS };
    const http = { headersTimeout: TIMES.headers, connectionsCheckingInterval: TIMES.check };
    this.app = fastify({
      bodyLimit: BODY_BYTES_MAX,
      exposeHeadRoutes: false,
      routerOptions: { maxParamLength: PARAM_LENGTH_MAX },
      forceCloseConnections: true,
      requestTimeout: TIMES.request,
      connectionTimeout: TIMES.silence,
      keepAliveTimeout: deps.settings.idleMs,
      ...(tls === undefined
        ? { http }
        : {
            https: {
              ...http,
              handshakeTimeout: TIMES.headers,
              cert: tls.certificate,
              key: tls.key,
              ciphers: TLS_CIPHERS,
            },
          }),
      clientErrorHandler: refuseUnreadable,
      // A path with invalid percent-encoding reaches no route and no error handler.
      frameworkErrors: (error, request, reply) =>
        this.sendProblem(
          (reply as FastifyReply).headers(protection),
          toProblem(error, request as FastifyRequest, deps),
        ),
    });
    this.parseJson();
    this.guard = new ServerGuard(this.app.server, CONNECTION_LIMITS, deps.counts);
    // Node emits no `close` event on an answer that is still queued behind an earlier one when the connection ends.
    this.app.server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
      socket.once('close', () => this.asking.delete(socket));
    });
    this.app.setValidatorCompiler<ObjectSchema>(({ schema }) => validatorOf(schema));
    this.app.setSerializerCompiler(() => toJson);
    this.app.setReplySerializer(toJson);
    this.app.decorateRequest('operator', undefined as unknown as Operator);
    this.app.decorateRequest('isKnown', function (this: FastifyRequest) {
      return authentication.isKnown(this);
    });
    this.app.addHook('onRequest', async (request, reply) => {
      const { socket } = request.raw;
      // Node reads and buffers every request that a client pipelines. Behind an answer that takes minutes, the buffer
      // would grow without limit. Node also processes all requests that arrived in one chunk, even after the first of
      // them closed the connection.
      if (socket.destroyed || this.asking.get(socket)?.writableEnded === false) {
        socket.destroy();
        throw badRequest('wait for the answers to your other requests');
      }
      this.asking.set(socket, reply.raw);
      // `onResponse` is not suitable, because it is not called when the client disconnects.
      reply.raw.once('close', () => {
        if (this.asking.get(socket) === reply.raw) this.asking.delete(socket);
        const { config } = request.routeOptions;
        deps.observer.answered(config.route ?? 'other', reply.raw.writableFinished ? reply.raw.statusCode : 'aborted');
      });
      reply.headers(protection);
      if (announcesBody(request.raw) && !isImport(request)) limitBody(request.raw, reply.raw, TIMES.body);
      // The health routes are open to every monitor and reveal nothing about players. The console's page contains no
      // data before sign-in.
      if (request.routeOptions.config.isOpen) return;
      request.operator = authentication.operatorOf(request);
      if (this.draining.signal.aborted) throw new Problem(503, 'the server is shutting down', 'shutting-down');
    });
    // The body may arrive long after the headers, and the token may have been revoked meanwhile.
    this.app.addHook('preHandler', async (request) => {
      if (announcesBody(request.raw) && !request.routeOptions.config.isOpen) {
        request.operator = authentication.operatorOf(request);
      }
    });
    // Close the connection if the answer is sent before the whole body has arrived. Otherwise the client could keep
    // sending the body and occupy the connection.
    this.app.addHook('onSend', async ({ raw }, reply) => {
      if (announcesBody(raw) && !raw.complete) reply.header('Connection', 'close');
    });
    this.app.setErrorHandler((error, request, reply) => this.sendProblem(reply, toProblem(error, request, deps)));
    this.app.setNotFoundHandler((request, reply) =>
      this.sendProblem(reply, new Problem(404, `there is no ${request.method} ${request.url}`, 'not-found')),
    );
    for (const route of routes) addRoute(this.app, route);
    addConsole(this.app, authentication, this.feed);
    addServerProof(this.app, authentication);
  }

  /** Starts listening and resolves to the port. Rejects on failure, and if the server is closed before the port is open. */
  async listen(): Promise<number> {
    const { host, port } = this.deps.settings;
    // For `localhost`, Fastify would open a second server on ::1, which has neither the guard nor a renewed certificate.
    const address = host === 'localhost' ? '127.0.0.1' : host;
    await this.guard.whileOpening(() =>
      this.app.listen({ host: address, port }).catch((error: Error) => {
        throw cannotListen(host, port, error);
      }),
    );
    return this.port;
  }

  /** The port while the server is listening. */
  get port(): number {
    return (this.app.server.address() as AddressInfo).port;
  }

  /** Sets the certificate for new connections; open connections keep theirs. Only for a listener with TLS. */
  setCertificate({ certificate, key }: Certificate): void {
    (this.app.server as unknown as Server).setSecureContext({ cert: certificate, key, ciphers: TLS_CIPHERS });
  }

  /**
   * Sets the tokens that are valid for all requests from now on. Closes the live feed, so that pages reconnect and
   * authenticate again.
   */
  setTokens(tokens: readonly OperatorToken[]): void {
    this.authentication.setTokens(tokens);
    this.feed.close();
  }

  /** Number of requests waiting for an answer. */
  get inFlight(): number {
    return this.asking.size;
  }

  /** Refuses all further requests except health checks. */
  drain(): void {
    this.draining.abort();
    this.feed.close();
    this.deps.searcher.close();
  }

  async close(): Promise<void> {
    await this.guard.close();
    await this.app.close();
    this.deps.feeds.close();
  }

  /**
   * Parses JSON. Rejects invalid UTF-8, because all invalid bytes decode to the same character, so that different IDs
   * could become equal. Routes handle a request without a body themselves.
   */
  private parseJson(): void {
    const parse = this.app.getDefaultJsonParser('error', 'error');
    this.app.removeAllContentTypeParsers();
    this.app.addContentTypeParser('*', (request, _payload, done) => {
      if (!announcesBody(request.raw)) done(null, undefined);
      else done(isImport(request) ? NO_LINES : NO_JSON);
    });
    this.app.addContentTypeParser(LINES_TYPES, (_request, payload, done) => done(null, payload));
    this.app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
      if (body.length === 0) done(null, undefined);
      else if (isUtf8(body)) parse(request, body.toString(), done);
      else done(badRequest('the body is not UTF-8'));
    });
  }

  private routes(): readonly Route[] {
    const { deps } = this;
    const isWanted = ({ socket }: IncomingMessage) => !this.draining.signal.aborted && !socket.destroyed;
    const byHand = new MoneyByHand(deps);
    const routes: Route[] = [
      ...playerRoutes(deps, byHand),
      playerRoundsRoute(deps),
      playerLogRoute(deps, isWanted),
      findPlayersRoute(deps, isWanted),
      ...transactionRoutes(deps, isWanted),
      findRoute(deps, isWanted),
      operationsRoute(deps),
      auditRoute(deps, isWanted),
      ...approvalRoutes(deps, byHand, isWanted),
      shardPlayersRoute(deps),
      ...feedRoutes(deps, this.draining.signal),
      importRoute(deps, byHand, this.draining.signal),
      ...clusterRoutes(deps),
      ...verifyRoutes(deps),
      ...ledgerRoutes(deps),
      settingsRoute(deps),
      ...snapshotRoutes(deps),
      ...processRoutes(deps, () => deps.observability.openapi(operatorPaths(routes), operatorSchemas)),
    ];
    return routes;
  }

  private sendProblem(reply: FastifyReply, problem: Problem): void {
    reply.status(problem.status).type('application/problem+json');
    if (problem.status === 401) reply.header('WWW-Authenticate', 'Bearer');
    if (problem.status === 429) reply.header('Retry-After', String(THROTTLE_SECONDS));
    if (problem.status === 503) reply.header('Retry-After', RETRY_AFTER_SECONDS);
    // Send the problem as text, because the framework would format an Error in its own way.
    reply.send(toJson(problem));
  }
}

function toProblem(error: unknown, { method, url, raw }: FastifyRequest, deps: AdminDeps): Problem {
  if (error instanceof Problem) return error;
  const { code, statusCode = 500, message } = error as { code?: string; statusCode?: number; message: string };
  // Fastify reports a streamed answer whose client disconnected before the first line as an error of the stream.
  if (code === 'ERR_STREAM_PREMATURE_CLOSE' && raw.socket.destroyed) return badRequest('the client has disconnected');
  if (statusCode === 413) return new Problem(413, message, 'body-too-large');
  if (statusCode < 500) return new Problem(statusCode, message, 'bad-request');
  deps.log.error({ code: 'operator-api-failed', method, url, error: message }, 'operator API request failed');
  return new Problem(500, 'an internal error; the log has the details', 'internal-error');
}

function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function isImport({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.url?.endsWith(':import') === true;
}

/** Answers data that is not HTTP, which reaches no route and no error handler. */
function refuseUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = UNREADABLE[error.code ?? ''] ?? 400;
  const problem = new Problem(status, 'the request cannot be read', status === 400 ? 'bad-request' : 'unreadable');
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    ...Object.entries(UNCACHED).map((header) => header.join(': ')),
  ];
  // Destroy the socket rather than leave it half-open: a client that does not close its side would occupy the
  // connection forever.
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

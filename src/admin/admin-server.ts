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
import { talliesRoutes } from './tallies.js';
import { THROTTLE_SECONDS } from './token-throttle.js';
import { transactionRoutes } from './transactions.js';
import { validatorOf } from './validation.js';
import { verifyRoutes } from './verify.js';

const BODY_BYTES_MAX = 64 * 1024;
/** A username of 256 characters of four bytes, each byte written as %xx. */
const PARAM_LENGTH_MAX = 256 * 4 * 3;
/** Limits of time in milliseconds; a test shortens them. */
export const TIMES = {
  /** For headers, and for a handshake before them. */
  headers: 10_000,
  /** For a whole body; an import may take longer, as long as it goes on. */
  body: 60_000,
  /** For a whole request: none, because an import may take hours, and `body` ends other ones. */
  request: 0,
  /** For a connection without a byte in either direction: a client that reads no answers would keep its place for good. */
  silence: 30_000,
  /** How often Node looks for connections that are over `headers` or `request`. */
  check: 1000,
};
/** Half of them for one address: a proxy may have all of that. */
const CONNECTION_LIMITS = { connectionsMax: 1000, perAddressMax: 500 };
/** Errors of Node's parser that have a status of their own. */
const UNREADABLE: Readonly<Record<string, number>> = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 };
const RETRY_AFTER_SECONDS = '1';
const NO_JSON = unsupportedMediaType('JSON with Content-Type: application/json');

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Its method and path, as in the OpenAPI document. */
    route?: string;
    /** Anybody may ask: the console's page, and who is signed in. */
    isOpen?: true;
  }
  interface FastifyRequest {
    /** Undefined at health, which anybody may ask for. */
    operator: Operator;
    /** For routes that anybody may ask, and that tell more to those who may read. */
    isKnown(): boolean;
  }
}

/** The operator's own listener: players, transactions, health, and the console. */
export class AdminServer {
  private readonly app: FastifyInstance;
  private readonly feed: LiveFeed;
  private readonly authentication: Authentication;
  private readonly draining = new AbortController();
  /** By connection, the answer to its newest request until all of it has left. */
  private readonly asking = new Map<Socket, ServerResponse>();

  constructor(private readonly deps: AdminDeps) {
    const routes = this.routes();
    this.feed = new LiveFeed(deps.overview);
    const authentication = new Authentication(deps.settings, deps.clock, deps.log, deps.observer, deps.signedOut);
    // A page that goes on without its session is asked who it is.
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
      // A path that is not even percent-encoded right comes to no route and to no error handler.
      frameworkErrors: (error, request, reply) =>
        this.sendProblem(
          (reply as FastifyReply).headers(protection),
          toProblem(error, request as FastifyRequest, deps),
        ),
    });
    this.parseJson();
    new ServerGuard(this.app.server, CONNECTION_LIMITS, deps.counts);
    // An answer that waits behind another one never hears that its connection has ended.
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
      // Node hears all that is sent ahead, and keeps it: behind an answer that takes minutes that would have no limit.
      // What came in one piece it goes through to its end, also when the first of that has ended the connection.
      if (socket.destroyed || this.asking.get(socket)?.writableEnded === false) {
        socket.destroy();
        throw badRequest('ask again when you are answered');
      }
      this.asking.set(socket, reply.raw);
      // Not `onResponse`: it stays out when the client has gone.
      reply.raw.once('close', () => {
        if (this.asking.get(socket) === reply.raw) this.asking.delete(socket);
        const { config } = request.routeOptions;
        deps.observer.answered(config.route ?? 'other', reply.raw.writableFinished ? reply.raw.statusCode : 'aborted');
      });
      reply.headers(protection);
      if (announcesBody(request.raw) && !isImport(request)) limitBody(request.raw, reply.raw, TIMES.body);
      // Health is for anybody who watches the process, and tells strangers nothing about players; nor does the console's empty page.
      if (request.routeOptions.config.isOpen) return;
      request.operator = authentication.operatorOf(request);
      if (this.draining.signal.aborted) throw new Problem(503, 'the server is shutting down', 'shutting-down');
    });
    // A client that is answered before its body is there could go on sending it, and keep its place.
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

  /** Starts to listen; resolves to the port. Rejects when it cannot. */
  async listen(): Promise<number> {
    const { host, port } = this.deps.settings;
    await this.app.listen({ host, port }).catch((error: Error) => {
      throw cannotListen(host, port, error);
    });
    return this.port;
  }

  /** While it listens. */
  get port(): number {
    return (this.app.server.address() as AddressInfo).port;
  }

  /** Connections that come from now on get this certificate; those that are open keep theirs. For a listener with TLS. */
  setCertificate({ certificate, key }: Certificate): void {
    (this.app.server as unknown as Server).setSecureContext({ cert: certificate, key, ciphers: TLS_CIPHERS });
  }

  /** Valid from the next request on. Pages that look at the live figures come again, and are asked who they are. */
  setTokens(tokens: readonly OperatorToken[]): void {
    this.authentication.setTokens(tokens);
    this.feed.close();
  }

  /** Requests that wait for their answer. */
  get inFlight(): number {
    return this.asking.size;
  }

  /** From now on requests are refused, but for those of health. */
  drain(): void {
    this.draining.abort();
    this.feed.close();
    this.deps.searcher.close();
  }

  async close(): Promise<void> {
    await this.app.close();
  }

  /** Bytes that are not UTF-8 all become the same sign, and two ids one. What has no body is for the routes to judge. */
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
      importRoute(deps, byHand, this.draining.signal),
      ...clusterRoutes(deps),
      ...verifyRoutes(deps),
      ...talliesRoutes(deps),
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
    // As text: given an Error, the framework would answer in a shape of its own.
    reply.send(toJson(problem));
  }
}

function toProblem(error: unknown, { method, url }: FastifyRequest, deps: AdminDeps): Problem {
  if (error instanceof Problem) return error;
  const { statusCode = 500, message } = error as { statusCode?: number; message: string };
  if (statusCode === 413) return new Problem(413, message, 'body-too-large');
  if (statusCode < 500) return new Problem(statusCode, message, 'bad-request');
  deps.log.error({ method, url, error: message }, 'operator API failed');
  return new Problem(500, 'a fault of ours; the log has more', 'internal-error');
}

function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function isImport({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.url?.endsWith(':import') === true;
}

/** What is no HTTP gets to no route and to no error handler. */
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
  // Not left half open: a client that does not close its side would keep its place for good.
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

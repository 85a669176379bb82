import type { Logger } from '../base/logger.js';
import { ENDPOINTS } from '../callback/callbacks.js';
import type { CallbackFailure } from '../callback/failures.js';
import { NOTHING_READ } from '../callback/request-codec.js';
import { RefusalLog } from '../telemetry/refusal-log.js';
import type { Endpoint } from '../wallet/command.js';
import { Admission } from './admission.js';
import { Callback, sendFailure } from './callback.js';
import type { CallbackDeps } from './callback-deps.js';
import type { CallbackLogSettings } from './callback-log.js';
import type { Callers } from './callers.js';
import { ConnectionGuard } from './connection-guard.js';
import { mustListen } from './http-library.js';
import type {
  HttpApp,
  HttpConnection,
  HttpLibrary,
  HttpRequest,
  HttpResponse,
  ListeningSocket,
  TlsFiles,
} from './http-port.js';

/** The current state of the listener. */
export interface ListenerMeasures {
  readonly inFlight: number;
  readonly connections: number;
  /** Number of requests signed with each key; undefined if requests are not signed. */
  readonly usesByKey: Readonly<Record<string, number>> | undefined;
}

/** An app of the HTTP library with one certificate, and the number of its open connections. */
interface Serving {
  readonly app: HttpApp;
  connections: number;
}

const UNREAD =
  'connection closed before a request (HTTP/1.0, TLS on a plain port, or a TCP check), later ones are counted';

/** Maximum length at which the log shows an unknown path. */
const PATH_SHOWN_MAX = 200;

/**
 * Delay before a replaced app may be closed, because an accepted connection is assigned to its app only after a moment.
 */
const RETIRE_MS = 1000;

/** The platform's listener. Serves the endpoints, and refuses all other requests in the interface's own format. */
export class CallbackServer {
  /** The first app listens for as long as the server runs; the last one receives new connections. */
  private readonly serving: [Serving, ...Serving[]];
  private readonly deps: CallbackDeps;
  private readonly guard: ConnectionGuard;
  /** True once a connection that ended without a request has been logged. Later ones are only counted. */
  private isUnreadLogged = false;
  private readonly paths: ReadonlyMap<string, Endpoint>;
  private socket: ListeningSocket | undefined = undefined;
  private isDraining = false;

  /** Throws if the library rejects the certificate or the key. */
  constructor(
    deps: Omit<CallbackDeps, 'admission' | 'refusals' | 'malformed' | 'ending'>,
    private callers: Callers,
    private readonly library: HttpLibrary,
    log: Logger,
  ) {
    const { settings, clock } = deps;
    const refusals = new RefusalLog(log, { code: 'callbacks-refused', message: 'callbacks refused' });
    const malformed = new RefusalLog(log, { code: 'callbacks-malformed', message: 'callbacks malformed' });
    const ending = { isEnding: false };
    this.deps = { ...deps, admission: new Admission(settings, clock), refusals, malformed, ending };
    this.guard = new ConnectionGuard(settings.connectionsMax, deps.counts, () => this.noteUnread(log));
    this.paths = new Map([...ENDPOINTS.map((endpoint) => [`/${endpoint}`, endpoint] as const), ...settings.aliases]);
    this.serving = [this.newServing(settings.tls)];
  }

  /** Sets the allowed callers. Takes effect immediately, except for requests whose headers have already arrived. */
  setCallers(callers: Callers): void {
    callers.countFrom(this.callers);
    this.callers = callers;
  }

  /**
   * Uses the certificate that is now in these files for new connections; open connections keep theirs. If it throws,
   * for the same reasons as the constructor, nothing has changed.
   */
  reloadCertificate(tls: TlsFiles): void {
    const next = this.newServing(tls);
    const [acceptor] = this.serving;
    const former = this.serving.at(-1) ?? acceptor;
    this.library.handConnectionsTo(next.app, acceptor.app, former.app);
    this.serving.push(next);
    this.retireLater(former);
  }

  /** Sets which callbacks are logged. */
  setLogging(settings: CallbackLogSettings): void {
    this.deps.log.settings = settings;
  }

  /** Number of requests signed with each key. */
  get usesByKey(): Readonly<Record<string, number>> | undefined {
    return this.callers.usesByKey;
  }

  get inFlight(): number {
    return this.deps.admission.inFlight;
  }

  measures(): ListenerMeasures {
    const { inFlight, usesByKey, connections } = this;
    return { inFlight, connections, usesByKey };
  }

  /** Starts listening. Resolves to the port; rejects on failure, and if the server is closed before the port is open. */
  async listen(): Promise<number> {
    const { host, port } = this.deps.settings;
    if (this.isDraining) throw closedEarly();
    this.socket = await mustListen(this.library, this.serving[0].app, host, port);
    const { port: opened } = this.socket;
    if (this.isDraining) {
      this.stopListening();
      throw closedEarly();
    }
    return opened;
  }

  /** Keeps answering, but closes each connection after its answer, so that callers reconnect to another node. */
  closeGently(): void {
    this.deps.ending.isEnding = true;
  }

  /** Accepts no new connections, and refuses requests on open connections. */
  stopListening(): void {
    this.isDraining = true;
    this.socket?.close();
    this.socket = undefined;
  }

  /** Closes all connections, including those with unanswered requests. */
  close(): void {
    this.stopListening();
    this.deps.admission.close();
    for (const { app } of this.serving) app.close();
  }

  private count(res: HttpConnection, change: number, serving: Serving): void {
    serving.connections += change;
    if (serving.connections === 0) this.retireLater(serving);
    if (change > 0) this.admit(res);
  }

  /**
   * Admits or closes a new connection before anything is read from it, so that a refused connection costs no handshake.
   */
  private admit(res: HttpConnection): void {
    const { refusals, counts } = this.deps;
    // The address of a closed connection cannot be read.
    const from = this.callers.describePeer(res);
    if (!this.callers.mayConnect(res)) {
      counts.refused.address++;
      refusals.note('address not allowed', () => from);
      res.close();
    } else if (this.guard.enter(res, this.connections) === 'refused') {
      refusals.note('too many connections', () => from);
    }
  }

  private noteUnread(log: Logger): void {
    if (!this.isUnreadLogged) log.info({ code: 'connection-unread', page: 'docs/proxies.md' }, UNREAD);
    this.isUnreadLogged = true;
  }

  get connections(): number {
    let sum = 0;
    for (const { connections } of this.serving) sum += connections;
    return sum;
  }

  private newServing(tls: TlsFiles | undefined): Serving {
    const app = this.library.createApp(tls);
    const serving = { app, connections: 0 };
    app.filter((res, change) => this.count(res, change, serving));
    for (const [path, endpoint] of this.paths) {
      app.post(path, (res, req) => this.handle(res, req, endpoint));
      app.any(path, (res, req) => this.refuse(res, req, 'wrong-method'));
    }
    app.any('/*', (res, req) => this.handleOther(res, req));
    return serving;
  }

  /**
   * Handles paths that do not exactly match an endpoint. Extra slashes do not change the meaning of a path and are
   * accepted, because a base URL with a trailing slash produces them.
   */
  private handleOther(res: HttpResponse, req: HttpRequest): void {
    const endpoint = this.paths.get(withoutExtraSlashes(req.getUrl()));
    if (endpoint === undefined) this.refuse(res, req, 'unknown-path');
    else if (req.getMethod() === 'post') this.handle(res, req, endpoint);
    else this.refuse(res, req, 'wrong-method');
  }

  /** Removes an app that has no connections and is neither the first nor the last. */
  private retireLater(serving: Serving): void {
    const isInUse = () => serving === this.serving[0] || serving === this.serving.at(-1) || serving.connections > 0;
    if (isInUse()) return;
    setTimeout(() => {
      const at = this.serving.indexOf(serving);
      if (isInUse() || at < 0) return;
      this.serving.splice(at, 1);
      serving.app.close();
    }, RETIRE_MS).unref();
  }

  private handle(res: HttpResponse, req: HttpRequest, endpoint: Endpoint): void {
    this.guard.asked(res);
    const refusal = this.findRefusal(res, req);
    if (refusal !== undefined) {
      this.turnAway(res, req, refusal);
      return;
    }
    const isFull = this.deps.admission.isFull;
    const callback = new Callback(this.deps, res, endpoint);
    if (this.isDraining) callback.refuseAndClose('shutting-down');
    else if (isFull) callback.refuse('overloaded');
    else if (Number(req.getHeader('content-length')) > this.deps.settings.bodyBytesMax) {
      callback.refuseAndClose('body-too-large');
    } else {
      const claim = this.callers.claim(req, this.deps.clock);
      const { tracer, log } = this.deps;
      const isLogged = log.settings.callbacks !== 'none';
      if (isLogged || tracer !== undefined) callback.follow(req.getHeader('traceparent'), isLogged);
      callback.readBody(claim, claim && this.callers.describe(res, req));
    }
  }

  private refuse(res: HttpResponse, req: HttpRequest, failure: CallbackFailure): void {
    this.guard.asked(res);
    const refusal = this.findRefusal(res, req);
    if (refusal !== undefined) {
      this.turnAway(res, req, refusal);
      return;
    }
    const asked = `${req.getMethod()} ${req.getUrl().slice(0, PATH_SHOWN_MAX)}`;
    this.deps.refusals.note(failure, () => `${asked} from ${this.callers.describe(res, req)()}`);
    this.send(res, failure, isHead(req), false);
  }

  /** The reason why this caller is refused, for the log. */
  private findRefusal(res: HttpResponse, req: HttpRequest): string | undefined {
    return this.callers.isAllowed(res, req) ? this.callers.findForeign(res, req) : 'address not allowed';
  }

  /**
   * Answers one event-loop iteration later and closes the connection. Without the close, a caller behind a trusted
   * proxy could be refused once and then claim any address, because the library rereads the claimed address for each
   * request on a connection. The library also processes everything that arrived in one chunk, even after an answer that
   * closes the connection. It ends a connection if a request arrives before the previous answer, so a delayed answer
   * prevents this.
   */
  private turnAway(res: HttpResponse, req: HttpRequest, refusal: string): void {
    this.deps.refusals.note(refusal, this.callers.describe(res, req));
    const isToHead = isHead(req);
    let isAborted = false;
    res.onAborted(() => {
      isAborted = true;
    });
    setImmediate(() => {
      if (!isAborted) this.send(res, 'address-not-allowed', isToHead, true);
    });
  }

  /**
   * Sends a failure. The answer to a HEAD request must have no body: the library would send one, and a proxy would read
   * it as the start of the next response.
   */
  private send(res: HttpResponse, failure: CallbackFailure, isToHead: boolean, close: boolean): void {
    sendFailure(res, failure, isToHead ? '' : this.deps.codec.failure(NOTHING_READ, failure), close);
    this.deps.observer.answered('other', failure);
  }
}

function closedEarly(): Error {
  return new Error('the callback listener was closed before it was open');
}

function withoutExtraSlashes(path: string): string {
  return path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '');
}

function isHead(req: HttpRequest): boolean {
  return req.getMethod() === 'head';
}

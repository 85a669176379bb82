import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type Server as Acceptor, type AddressInfo, createServer as createAcceptor, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { HEADERS_COUNT_MAX } from '../listener/server-guard.js';
import { TLS_CIPHERS } from '../listener/tls-ciphers.js';
import type {
  HttpApp,
  HttpConnection,
  HttpHandler,
  HttpLibrary,
  HttpRequest,
  HttpResponse,
  TlsFiles,
} from './http-port.js';
import { readProxyHeader } from './proxy-header.js';

const HEADERS_BYTES_MAX = 16_384;
/**
 * The time for the TLS handshake and the headers of a request. uWebSockets.js closes the connection after 8 to 12 s.
 */
const IDLE_MS = 10_000;
const SWEEP_MS = 1000;
/** `NodeApp` closes idle connections; the callback listener closes connections whose body is late. */
const NO_TIMEOUTS = { headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0 };
const NO_BYTES = new ArrayBuffer(0);
const NOTHING_RECEIVED = Buffer.alloc(0);
const NOTHING = () => {};

type Count = (connection: HttpConnection, change: number) => void;

interface Route {
  readonly post?: HttpHandler;
  readonly any?: HttpHandler;
}

/** Node's own HTTP, which serves callbacks on machines where no binary of uWebSockets.js loads. */
export const NODE_HTTP: HttpLibrary = {
  name: 'node:http',
  createApp: (tls) => new NodeApp(tls),
  handConnectionsTo(next, acceptor) {
    (acceptor as NodeApp).successor = next as NodeApp;
  },
  async listen(app, host, port) {
    const { acceptor } = app as NodeApp;
    const isListening = await new Promise<boolean>((resolve) => {
      // After this, an error means that a connection could not be accepted, for example because no file descriptor was
      // free.
      acceptor.on('error', () => resolve(false));
      acceptor.once('close', () => resolve(false));
      acceptor.listen({ host, port }, () => {
        // The listener was closed while the acceptor was still looking up the host.
        if ((app as NodeApp).isClosed) acceptor.close();
        else resolve(true);
      });
    });
    if (!isListening) return undefined;
    return { port: (acceptor.address() as AddressInfo).port, close: () => acceptor.close() };
  },
};

/**
 * An HTTP server and the acceptor of its connections. Node's server never listens by itself, so that a connection can be
 * refused, handed to a successor, or read for the PROXY protocol before Node reads anything from it.
 */
class NodeApp implements HttpApp {
  /** App that receives the connections accepted by this one. */
  successor: NodeApp = this;
  isClosed = false;
  readonly acceptor: Acceptor;
  private readonly server: Server;
  private readonly isSecure: boolean;
  private readonly connections = new Set<NodeConnection>();
  /** Connections by the socket that carries their requests. */
  private readonly ready = new Map<Socket, NodeConnection>();
  /**
   * Connections during the TLS handshake. Keyed by remote end, because the request's socket is not the one that was
   * accepted.
   */
  private readonly handshaking = new Map<string, NodeConnection>();
  private readonly routes = new Map<string, Route>();
  private readonly sweeping: NodeJS.Timeout;
  private count: Count = NOTHING;

  constructor(tls: TlsFiles | undefined) {
    this.isSecure = tls !== undefined;
    this.server = createNodeServer(tls);
    this.server.maxHeadersCount = HEADERS_COUNT_MAX;
    this.server.on('request', (request, response) => this.serve(request, response));
    this.server.on('secureConnection', (socket: Socket) => {
      const connection = this.handshaking.get(remoteEndOf(socket));
      if (connection === undefined) socket.destroy();
      else this.beginRequests(connection, socket);
    });
    this.server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      const connection = this.ready.get(socket as Socket);
      const isTooLong = error.code === 'HPE_HEADER_OVERFLOW';
      if (connection === undefined) socket.destroy();
      else connection.refuse(isTooLong ? '431 Request Header Fields Too Large' : '400 Bad Request');
    });
    this.acceptor = createAcceptor({ noDelay: true }, (socket) => this.successor.accept(socket));
    this.sweeping = setInterval(() => this.sweep(), SWEEP_MS).unref();
  }

  filter(count: Count): void {
    this.count = count;
  }

  post(path: string, handler: HttpHandler): void {
    this.routes.set(path, { ...this.routes.get(path), post: handler });
  }

  any(path: string, handler: HttpHandler): void {
    this.routes.set(path, { ...this.routes.get(path), any: handler });
  }

  close(): void {
    clearInterval(this.sweeping);
    this.isClosed = true;
    if (this.acceptor.listening) this.acceptor.close();
    for (const connection of this.connections) connection.close();
  }

  /** Called once for each connection. */
  ended(connection: NodeConnection): void {
    this.connections.delete(connection);
    this.ready.delete(connection.socket);
    this.handshaking.delete(connection.remoteEnd);
    this.count(connection, -1);
  }

  private accept(socket: Socket): void {
    const connection = new NodeConnection(this, socket);
    this.connections.add(connection);
    // Nothing else to do: the connection's `close` event follows.
    socket.on('error', NOTHING);
    socket.once('close', () => connection.close());
    this.count(connection, 1);
    if (connection.hasEnded) return;
    if (this.isSecure) {
      this.handshaking.set(connection.remoteEnd, connection);
      this.server.emit('connection', socket);
    } else {
      this.readProxyHeader(connection, socket);
    }
  }

  private readProxyHeader(connection: NodeConnection, socket: Socket): void {
    let received: Buffer = NOTHING_RECEIVED;
    const read = () => {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) return;
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const header = readProxyHeader(received);
      if (header === 'incomplete') return;
      socket.off('readable', read);
      if (header === 'invalid') {
        connection.close();
        return;
      }
      connection.proxiedAddress = arrayBufferOf(header.address);
      this.beginRequests(connection, socket);
      if (received.length > header.byteLength) socket.unshift(received.subarray(header.byteLength));
      // The socket's listeners keep this variable alive for as long as the connection is open.
      received = NOTHING_RECEIVED;
      this.server.emit('connection', socket);
    };
    socket.on('readable', read);
    socket.once('end', () => connection.close());
  }

  private beginRequests(connection: NodeConnection, socket: Socket): void {
    this.handshaking.delete(connection.remoteEnd);
    connection.socket = socket;
    this.ready.set(socket, connection);
    // A caller that has closed its side gets no answer, as with uWebSockets.js.
    socket.once('end', () => connection.close());
    socket.once('close', () => connection.close());
  }

  private serve(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.ready.get(request.socket);
    if (connection === undefined || connection.isLeaving) return;
    if (request.httpVersion !== '1.1') {
      connection.refuse('505 HTTP Version Not Supported');
    } else if (connection.isBusy) {
      // The request is pipelined.
      connection.close();
    } else {
      connection.asked();
      const exchange = new NodeExchange(connection, request, response);
      const isPost = request.method === 'POST';
      const handler = this.findHandler(exchange.getUrl(), isPost) ?? this.findHandler('/*', isPost);
      if (handler === undefined) connection.close();
      else handler(exchange, exchange);
    }
  }

  private findHandler(path: string, isPost: boolean): HttpHandler | undefined {
    const route = this.routes.get(path);
    return (isPost ? route?.post : undefined) ?? route?.any;
  }

  private sweep(): void {
    const sinceMs = performance.now() - IDLE_MS;
    for (const connection of this.connections) if (connection.idleSinceMs <= sinceMs) connection.close();
  }
}

class NodeConnection implements HttpConnection {
  hasEnded = false;
  /** True once an answer has closed the connection; later requests are ignored. */
  isLeaving = false;
  /** Infinite while a request waits for its answer. */
  idleSinceMs = performance.now();
  proxiedAddress = NO_BYTES;
  readonly remoteEnd: string;
  private readonly address: ArrayBuffer;
  private aborted: (() => void) | undefined = undefined;

  constructor(
    private readonly app: NodeApp,
    /** With TLS, the encrypted socket until the handshake has ended. */
    public socket: Socket,
  ) {
    this.remoteEnd = remoteEndOf(socket);
    this.address = bytesOfAddress(socket.remoteAddress);
  }

  get isBusy(): boolean {
    return this.idleSinceMs === Number.POSITIVE_INFINITY;
  }

  onAborted(handler: () => void): void {
    this.aborted = handler;
  }

  close(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.app.ended(this);
    const { aborted } = this;
    this.aborted = undefined;
    aborted?.();
    this.socket.destroy();
  }

  getRemoteAddress(): ArrayBuffer {
    return this.hasEnded ? NO_BYTES : this.address;
  }

  getProxiedRemoteAddress(): ArrayBuffer {
    return this.proxiedAddress;
  }

  asked(): void {
    this.idleSinceMs = Number.POSITIVE_INFINITY;
  }

  answered(isLeaving: boolean): void {
    this.aborted = undefined;
    this.isLeaving = isLeaving;
    this.idleSinceMs = performance.now();
  }

  /**
   * Refuses a request that cannot be read. If the connection still has an unanswered request, no line is sent, because
   * the caller would take it for that request's answer.
   */
  refuse(statusLine: string): void {
    if (this.isBusy || this.isLeaving || !this.socket.writable) {
      this.close();
      return;
    }
    this.isLeaving = true;
    this.socket.end(`HTTP/1.1 ${statusLine}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  }
}

/** One request and its answer. */
class NodeExchange implements HttpRequest, HttpResponse {
  private hasEnded = false;
  private status = 200;
  private reason = 'OK';
  private readonly headers: string[] = [];

  constructor(
    private readonly connection: NodeConnection,
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
  ) {}

  getHeader(name: string): string {
    const value = this.request.headers[name];
    return typeof value === 'string' ? value : (value?.join(', ') ?? '');
  }

  getUrl(): string {
    const url = this.request.url as string;
    const at = url.indexOf('?');
    return at < 0 ? url : url.slice(0, at);
  }

  getMethod(): string {
    return (this.request.method as string).toLowerCase();
  }

  forEach(visit: (name: string, value: string) => void): void {
    const { rawHeaders } = this.request;
    for (let i = 0; i < rawHeaders.length; i += 2) {
      visit((rawHeaders[i] as string).toLowerCase(), rawHeaders[i + 1] as string);
    }
  }

  onAborted(handler: () => void): void {
    this.connection.onAborted(handler);
  }

  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): void {
    // NaN for a chunked body.
    let missing = Number(this.request.headers['content-length']);
    let hasLast = false;
    const pass = (chunk: ArrayBuffer, isLast: boolean) => {
      hasLast = isLast;
      if (!this.hasEnded && !this.connection.hasEnded) handler(chunk, isLast);
    };
    this.request.on('data', (chunk: Buffer) => {
      missing -= chunk.length;
      pass(arrayBufferOf(chunk), missing === 0);
    });
    this.request.on('end', () => {
      if (!hasLast) pass(NO_BYTES, true);
    });
  }

  cork(write: () => void): void {
    write();
  }

  writeStatus(statusLine: string): void {
    this.status = Number(statusLine.slice(0, 3));
    this.reason = statusLine.slice(4);
  }

  writeHeader(name: string, value: string): void {
    this.headers.push(name, value);
  }

  end(body: string, closeConnection = false): void {
    if (this.hasEnded || this.connection.hasEnded) return;
    this.hasEnded = true;
    this.connection.answered(closeConnection || !this.response.shouldKeepAlive);
    this.headers.push('Content-Length', String(Buffer.byteLength(body)));
    if (closeConnection) this.headers.push('Connection', 'close');
    this.response.writeHead(this.status, this.reason, this.headers);
    this.response.end(body);
  }

  close(): void {
    this.connection.close();
  }

  getRemoteAddress(): ArrayBuffer {
    return this.connection.getRemoteAddress();
  }

  getProxiedRemoteAddress(): ArrayBuffer {
    return this.connection.proxiedAddress;
  }
}

function createNodeServer(tls: TlsFiles | undefined): Server {
  // Join two Host headers, so that they match no host name of this machine.
  const options = { ...NO_TIMEOUTS, maxHeaderSize: HEADERS_BYTES_MAX, joinDuplicateHeaders: true };
  if (tls === undefined) return createServer(options);
  const [cert, key] = [readFileSync(tls.certificateFile), readFileSync(tls.keyFile)];
  return createSecureServer({ ...options, cert, key, ciphers: TLS_CIPHERS, minVersion: 'TLSv1.2' });
}

function remoteEndOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function bytesOfAddress(text: string | undefined): ArrayBuffer {
  // Omits the zone of a link-local address.
  const [address = ''] = (text ?? '').split('%');
  return address === '' ? NO_BYTES : arrayBufferOf(Uint8Array.from(ipaddr.parse(address).toByteArray()));
}

function arrayBufferOf({ buffer, byteOffset, byteLength }: Uint8Array): ArrayBuffer {
  return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
}

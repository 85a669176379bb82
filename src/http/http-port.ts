/**
 * The part of an HTTP library that the callback listener uses. Names and behaviour are those of uWebSockets.js, so its
 * requests need no wrapper. `node-http.ts` imitates them.
 */
export interface HttpRequest {
  /** Empty if there is no such header. */
  getHeader(lowerCaseName: string): string;
  /** The path without the query. */
  getUrl(): string;
  /** In lower case. */
  getMethod(): string;
  forEach(visit: (lowerCaseName: string, value: string) => void): void;
}

export interface HttpConnection {
  /**
   * Sets the handler that runs if the connection ends before the answer. Replaces any earlier handler, even that of an
   * earlier request.
   */
  onAborted(handler: () => void): unknown;
  /** Closes the connection immediately, and calls the handlers of its end before returning. */
  close(): unknown;
  /** 4 or 16 bytes; empty if the connection has ended. */
  getRemoteAddress(): ArrayBuffer;
  /** Client's address according to the PROXY protocol, version 2; empty if the proxy sent no such header. */
  getProxiedRemoteAddress(): ArrayBuffer;
}

/** Must not be used after the request has ended. */
export interface HttpResponse extends HttpConnection {
  /** The memory of a chunk becomes invalid when the handler returns. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  cork(write: () => void): unknown;
  writeStatus(statusLine: string): unknown;
  writeHeader(name: string, value: string): unknown;
  end(body: string, closeConnection?: boolean): unknown;
}

export type HttpHandler = (res: HttpResponse, req: HttpRequest) => void;

export interface HttpApp {
  /** Receives 1 for each new connection, before anything is read from it, and -1 for each connection that has ended. */
  filter(count: (connection: HttpConnection, change: number) => void): unknown;
  post(path: string, handler: HttpHandler): unknown;
  /** `/*` matches every path that no other pattern matches. */
  any(path: string, handler: HttpHandler): unknown;
  /** Closes all connections and the listening socket. */
  close(): unknown;
}

export interface ListeningSocket {
  readonly port: number;
  close(): void;
}

export interface TlsFiles {
  readonly certificateFile: string;
  readonly keyFile: string;
}

export interface HttpLibrary {
  /** The name for the log. */
  readonly name: string;
  /** Creates an app, with TLS if certificate files are given. Throws if the files are invalid. */
  createApp(tls: TlsFiles | undefined): HttpApp;
  /** From now on, assigns connections that `acceptor` accepts to `next` instead of `former`. */
  handConnectionsTo(next: HttpApp, acceptor: HttpApp, former: HttpApp): void;
  /** Listens on a port, which no other process may use. Resolves to undefined on failure. */
  listen(app: HttpApp, host: string, port: number): Promise<ListeningSocket | undefined>;
}

/**
 * The part of an HTTP library that the callback listener uses. Names and behaviour are those of uWebSockets.js, which
 * then needs no wrapper around a request; `node-http.ts` behaves alike.
 */
export interface HttpRequest {
  /** Empty if there is no such header. */
  getHeader(lowerCaseName: string): string;
  /** Path without the query. */
  getUrl(): string;
  /** In lower case. */
  getMethod(): string;
  forEach(visit: (lowerCaseName: string, value: string) => void): void;
}

export interface HttpConnection {
  /** Replaces the handler, also that of an earlier request. It runs if the connection ends before the answer. */
  onAborted(handler: () => void): unknown;
  /** Closes the connection at once. Calls the handlers of its end before it returns. */
  close(): unknown;
  /** 4 or 16 bytes; empty if the connection has ended. */
  getRemoteAddress(): ArrayBuffer;
  /** Client's address in the PROXY protocol, version 2; empty without it. */
  getProxiedRemoteAddress(): ArrayBuffer;
}

/** Must not be used after its end. */
export interface HttpResponse extends HttpConnection {
  /** Memory of a chunk becomes invalid when the handler returns. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  cork(write: () => void): unknown;
  writeStatus(statusLine: string): unknown;
  writeHeader(name: string, value: string): unknown;
  end(body: string, closeConnection?: boolean): unknown;
}

export type HttpHandler = (res: HttpResponse, req: HttpRequest) => void;

export interface HttpApp {
  /** Runs for each new connection (1), before anything is read from it, and for each ended one (-1). */
  filter(count: (connection: HttpConnection, change: number) => void): unknown;
  post(path: string, handler: HttpHandler): unknown;
  /** `/*` matches each path that nothing else matches. */
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
  /** Name for the log. */
  readonly name: string;
  /** Creates an app, with TLS if certificate files are given. Throws if the files are invalid. */
  createApp(tls: TlsFiles | undefined): HttpApp;
  /** Assigns connections that `acceptor` accepts from now on to `next` instead of `former`. */
  handConnectionsTo(next: HttpApp, acceptor: HttpApp, former: HttpApp): void;
  /** Listens on a port that no other process listens on. Resolves to undefined on failure. */
  listen(app: HttpApp, host: string, port: number): Promise<ListeningSocket | undefined>;
}

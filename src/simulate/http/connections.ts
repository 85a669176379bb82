import { isIP, type Socket, connect as tcpConnect } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { Queue } from '../../base/queue.js';
import { Connection, type Exchange, HungUp } from './connection.js';
import type { Response } from './response-reader.js';

/**
 * Maximum number of connections to one server. Without a limit, each concurrent history would open a connection for
 * each of its concurrent messages.
 */
const CONNECTIONS_MAX = 1024;

/**
 * Receive buffer shared by all connections, because its bytes are parsed before more bytes arrive. A stream would
 * allocate 64 KB per answer.
 */
const received = Buffer.allocUnsafe(64 * 1024);

/** The address of the server. */
export interface Server {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
}

/** Sends requests to one server over reused connections, the most recently used one first. */
export class Connections {
  private readonly all = new Set<Connection>();
  private readonly free: Connection[] = [];
  private readonly waiting = new Queue<Sending>();
  /** Requests to send in the current turn of the event loop. */
  private outbox: Sending[] = [];
  private isClosed = false;

  constructor(private readonly server: Server) {}

  /** Sends a request. `done` receives an error if there is no response within the timeout. */
  send(request: string, timeoutMs: number, done: (response: Response | Error) => void): void {
    this.outbox.push(new Sending(request, timeoutMs, done));
    // Flush once per turn. An operator that is woken for each single request gets less work done.
    if (this.outbox.length === 1) setImmediate(() => this.flush());
  }

  /** Sends the request on its own connection, and closes the connection without waiting for the answer. */
  cut(request: string): Promise<void> {
    return new Promise((resolve) => {
      const socket = open(this.server, () => {});
      socket.on('error', () => {});
      socket.on('close', () => resolve());
      // Close the connection once the request has been sent. The operator may or may not have executed it by then.
      socket.write(request, () => setImmediate(() => socket.destroy()));
    });
  }

  /** True if the server accepts a connection. */
  accepts(timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = open(this.server, () => {});
      const done = (accepted: boolean) => {
        socket.destroy();
        resolve(accepted);
      };
      socket.setTimeout(timeoutMs, () => done(false));
      socket.on(this.server.isTls ? 'secureConnect' : 'connect', () => done(true));
      socket.on('error', () => done(false));
    });
  }

  close(): void {
    this.isClosed = true;
    for (const connection of this.all) connection.destroy();
    for (let sending = this.waiting.shift(); sending !== undefined; sending = this.waiting.shift()) {
      sending.fail(new HungUp());
    }
  }

  private flush(): void {
    const { outbox } = this;
    this.outbox = [];
    for (const sending of outbox) this.begin(sending);
  }

  private begin(sending: Sending): void {
    // Skip a request that has timed out while it was waiting.
    if (sending.isDone) return;
    const connection = this.isClosed ? undefined : (this.findFree() ?? this.tryNew());
    if (this.isClosed) sending.fail(new HungUp());
    else if (connection === undefined) this.waiting.push(sending);
    else sending.goOn(connection);
  }

  private findFree(): Connection | undefined {
    for (;;) {
      const connection = this.free.pop();
      if (connection === undefined || connection.isUsable) return connection;
      connection.destroy();
    }
  }

  private tryNew(): Connection | undefined {
    if (this.all.size >= CONNECTIONS_MAX) return undefined;
    const connection = new Connection(
      (onBytes) => open(this.server, onBytes),
      (one) => this.freed(one),
      (one) => this.closed(one),
    );
    this.all.add(connection);
    return connection;
  }

  private freed(connection: Connection): void {
    this.free.push(connection);
    this.beginWaiting();
  }

  private closed(connection: Connection): void {
    this.all.delete(connection);
    this.beginWaiting();
  }

  private beginWaiting(): void {
    for (;;) {
      const sending = this.isClosed ? undefined : this.waiting.shift();
      if (sending === undefined) return;
      if (sending.isDone) continue;
      this.begin(sending);
      return;
    }
  }
}

/** A request that ends exactly once, with a response or an error. */
class Sending implements Exchange {
  isDone = false;
  private connection: Connection | undefined;
  private readonly timer: NodeJS.Timeout;

  constructor(
    readonly request: string,
    timeoutMs: number,
    private readonly done: (response: Response | Error) => void,
  ) {
    this.timer = setTimeout(() => this.late(timeoutMs), timeoutMs);
  }

  goOn(connection: Connection): void {
    this.connection = connection;
    connection.send(this);
  }

  end(response: Response): void {
    this.settle(response);
  }

  fail(error: Error): void {
    this.settle(error);
  }

  private late(timeoutMs: number): void {
    const error = new Error(`no answer in ${timeoutMs} ms`);
    this.connection?.destroy(error);
    this.settle(error);
  }

  private settle(outcome: Response | Error): void {
    if (this.isDone) return;
    this.isDone = true;
    clearTimeout(this.timer);
    this.done(outcome);
  }
}

function open({ host, port, isTls }: Server, onBytes: (bytes: Buffer) => void): Socket {
  if (isTls) {
    const name = isIP(host) === 0 ? { servername: host } : {};
    return tlsConnect({ host, port, ALPNProtocols: ['http/1.1'], ...name })
      .setNoDelay()
      .on('data', onBytes);
  }
  const callback = (length: number) => {
    onBytes(received.subarray(0, length));
    return true;
  };
  return tcpConnect({ host, port, noDelay: true, onread: { buffer: received, callback } });
}

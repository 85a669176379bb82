import { isIP, type Socket, connect as tcpConnect } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { Queue } from '../../../base/queue.js';
import { Connection, type Exchange } from './connection.js';
import type { Response } from './response-reader.js';

/**
 * Limit of connections to one server. There are no more than concurrent histories times the messages they send at once.
 */
const CONNECTIONS_MAX = 1024;

/**
 * One receive buffer for all connections: its bytes are parsed before more arrive. A stream allocates 64 KB per answer.
 */
const received = Buffer.allocUnsafe(64 * 1024);

/** Address of the server. */
export interface Server {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
}

/** Sends requests to one server over kept connections. The one used last is reused first. */
export class Connections {
  private readonly all = new Set<Connection>();
  private readonly free: Connection[] = [];
  private readonly waiting = new Queue<Sending>();
  /** Requests to send in this turn of the event loop. */
  private outbox: Sending[] = [];
  private isClosed = false;

  constructor(private readonly server: Server) {}

  /** `done` gets an error when there is no response in this time. */
  send(request: string, timeoutMs: number, done: (response: Response | Error) => void): void {
    this.outbox.push(new Sending(request, timeoutMs, done));
    // Flush once per turn: an operator that is woken for each request gets less done.
    if (this.outbox.length === 1) setImmediate(() => this.flush());
  }

  /** Sends the request on a connection of its own, and cuts the connection without waiting for the answer. */
  cut(request: string): Promise<void> {
    return new Promise((resolve) => {
      const socket = open(this.server, () => {});
      socket.on('error', () => {});
      socket.on('close', () => resolve());
      // The request has left. Chance decides whether the operator is already done.
      socket.write(request, () => setImmediate(() => socket.destroy()));
    });
  }

  close(): void {
    this.isClosed = true;
    for (const connection of this.all) connection.destroy();
  }

  private flush(): void {
    const { outbox } = this;
    this.outbox = [];
    for (const sending of outbox) this.begin(sending);
  }

  private begin(sending: Sending): void {
    // The request was given up meanwhile.
    if (sending.isDone) return;
    const connection = this.maybeFree() ?? this.maybeNew();
    if (connection === undefined) this.waiting.push(sending);
    else sending.goOn(connection);
  }

  private maybeFree(): Connection | undefined {
    for (;;) {
      const connection = this.free.pop();
      if (connection === undefined || connection.isUsable) return connection;
      connection.destroy();
    }
  }

  private maybeNew(): Connection | undefined {
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

/** A request that is answered, or fails, once. */
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
    this.tell(response);
  }

  fail(error: Error): void {
    this.tell(error);
  }

  private late(timeoutMs: number): void {
    const error = new Error(`no answer in ${timeoutMs} ms`);
    this.connection?.destroy(error);
    this.tell(error);
  }

  private tell(outcome: Response | Error): void {
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

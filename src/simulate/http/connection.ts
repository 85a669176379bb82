import type { Socket } from 'node:net';
import { type Response, ResponseReader } from './response-reader.js';

/** A request that is waiting for its response. */
export interface Exchange {
  /** Complete request, including its head. */
  readonly request: string;
  end(response: Response): void;
  fail(error: Error): void;
}

/** The server closed the connection before it answered. */
export class HungUp extends Error {
  override readonly name = 'HungUp';

  constructor() {
    super('socket hang up');
  }
}

/** A connection that carries one request at a time, and is reused for as long as the server keeps it open. */
export class Connection {
  private readonly reader = new ResponseReader();
  private exchange: Exchange | undefined;
  private error: Error | undefined;
  /** Idle deadline, in ms of `performance.now`. Do not reuse the connection after it. */
  private keptUntilMs = Number.POSITIVE_INFINITY;

  private readonly socket: Socket;

  constructor(
    open: (onBytes: (bytes: Buffer) => void) => Socket,
    private readonly onFree: (connection: Connection) => void,
    onClose: (connection: Connection) => void,
  ) {
    const socket = open((bytes) => this.receive(bytes));
    this.socket = socket;
    socket.on('end', () => this.receiveEnd());
    socket.on('error', (error) => {
      this.error ??= error;
    });
    socket.on('close', () => {
      this.take()?.fail(this.error ?? new HungUp());
      onClose(this);
    });
  }

  get isUsable(): boolean {
    if (this.socket.destroyed || this.socket.readableEnded) return false;
    return this.keptUntilMs === Number.POSITIVE_INFINITY || performance.now() < this.keptUntilMs;
  }

  send(exchange: Exchange): void {
    this.exchange = exchange;
    this.socket.write(exchange.request);
  }

  /** Closes the connection. A waiting exchange fails with `error`. */
  destroy(error?: Error): void {
    this.error ??= error;
    this.socket.destroy();
  }

  private take(): Exchange | undefined {
    const { exchange } = this;
    this.exchange = undefined;
    return exchange;
  }

  private receive(bytes: Buffer): void {
    let response: Response | undefined;
    try {
      if (this.exchange === undefined) throw new Error('an answer to nothing');
      response = this.reader.push(bytes);
    } catch (error) {
      this.destroy(error as Error);
      return;
    }
    if (response !== undefined) this.answered(response);
  }

  private receiveEnd(): void {
    const response = this.reader.end();
    if (response !== undefined) this.answered(response);
  }

  private answered(response: Response): void {
    const exchange = this.take();
    if (response.keptMs === 0) {
      this.socket.destroy();
    } else {
      // The connection has a deadline only if the server announced a timeout.
      const isTimed = response.keptMs !== Number.POSITIVE_INFINITY;
      this.keptUntilMs = isTimed ? performance.now() + response.keptMs : Number.POSITIVE_INFINITY;
      this.onFree(this);
    }
    exchange?.end(response);
  }
}

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Answer } from './answer.js';
import type { Play } from './dealer.js';

const REQUEST_BYTES = 1024;
/** Between two attempts to connect again. */
const REOPEN_MS = 10;
const PARTING = '\r\nconnection: close\r\n';
/** One for all connections: what comes is read before more comes, on whichever. */
const received = Buffer.allocUnsafe(64 * 1024);

export interface ConnectionListener {
  answered(connection: Connection, play: Play, answer: Answer, isEchoed: boolean): void;
  /** The server has closed the connection, or says something unasked. */
  lost(why: string): void;
  /** The connection broke before an answer came: the same request is sent again on the next one. */
  broken?(): void;
}

/**
 * A keep-alive connection with one request at a time on it. One that reopens outlives the servers behind a balancer: when
 * it ends it is opened again, as a platform would.
 */
export class Connection {
  readonly isOpen: Promise<unknown>;
  /** Whose request has no answer yet; undefined while nothing is awaited. */
  play: Play | undefined = undefined;
  /** When that request was due. */
  dueAt = 0;
  private socket: Socket;
  /** Filled again for each request: when one is answered, its bytes have left. */
  private bytes = Buffer.allocUnsafe(REQUEST_BYTES);
  /** The server has asked for its end: what is sent next waits for another connection, and nothing broke. */
  private isLeft = false;
  private isClosed = false;

  constructor(
    private readonly url: string,
    private readonly listener: ConnectionListener,
    private readonly reopens = false,
  ) {
    this.socket = this.open();
    this.isOpen = once(this.socket, 'connect');
    if (reopens) this.isOpen.catch(() => {});
  }

  close(): void {
    this.isClosed = true;
    this.socket.end();
  }

  /** The next request of the play. */
  send(play: Play, dueAt: number): void {
    this.play = play;
    this.dueAt = dueAt;
    const { request } = play.step;
    if (request.length > this.bytes.length) this.bytes = Buffer.allocUnsafe(request.length);
    request.write(this.bytes, play.player, play.number);
    // One that is being opened sends it then.
    if (this.socket.readyState === 'open') this.write(request.length);
  }

  private open(): Socket {
    const { hostname, port } = new URL(this.url);
    // Bytes come into our own buffer, past Node's streams, and are looked at there.
    const onread = { buffer: received, callback: (length: number) => this.receive(length) };
    const socket = connect({ host: hostname, port: Number(port), noDelay: true, onread });
    socket.on('connect', () => this.play && this.write(this.play.step.request.length));
    socket.on('error', (error) => this.reopens || this.listener.lost(error.message));
    socket.on('close', () => this.ended());
    return socket;
  }

  private ended(): void {
    if (this.isClosed) return;
    if (!this.reopens) {
      this.listener.lost('the server has closed a connection');
      return;
    }
    if (this.play !== undefined && !this.isLeft) this.listener.broken?.();
    this.isLeft = false;
    setTimeout(() => {
      this.socket = this.open();
    }, REOPEN_MS);
  }

  private write(length: number): void {
    this.socket.write(this.bytes.subarray(0, length));
  }

  private receive(length: number): boolean {
    const { play } = this;
    const answer = new Answer(received, length);
    if (this.reopens && answer.hasHeader(PARTING)) {
      this.isLeft = true;
      this.socket.destroy();
    }
    if (play === undefined) {
      this.listener.lost(`an answer to nothing: ${answer.text}`);
      return true;
    }
    const { idFrom, idTo } = play.step.request;
    this.play = undefined;
    this.listener.answered(this, play, answer, answer.echoes(this.bytes, idFrom, idTo));
    return true;
  }
}

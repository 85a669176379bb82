import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Answer } from './answer.js';
import type { Play } from './dealer.js';

const REQUEST_BYTES = 1024;
/** Wait between two attempts to reconnect. */
const REOPEN_MS = 10;
const PARTING = '\r\nconnection: close\r\n';
/** One buffer shared by all connections: received bytes are processed before more are read. */
const received = Buffer.allocUnsafe(64 * 1024);

export interface ConnectionListener {
  answered(connection: Connection, play: Play, answer: Answer, isEchoed: boolean): void;
  /** Called when the server has closed the connection or sent an unexpected answer. */
  lost(why: string): void;
  /**
   * Called when the connection has broken before an answer arrived. The same request is then sent again on the next
   * connection.
   */
  broken?(): void;
}

/**
 * Keep-alive connection with one request at a time. With `reopens`, it reconnects when it ends, as a platform would,
 * and so outlives the servers behind a load balancer.
 */
export class Connection {
  readonly isOpen: Promise<unknown>;
  /** The play whose request is unanswered; undefined if no request is pending. */
  play: Play | undefined = undefined;
  /** The time at which that request was due. */
  dueAt = 0;
  private socket: Socket;
  /**
   * Buffer for the request, reused for every request: once a request has been answered, all of its bytes have been
   * sent.
   */
  private bytes = Buffer.allocUnsafe(REQUEST_BYTES);
  /**
   * The server has asked to close the connection: the next request waits until it is reopened, and the request in
   * progress does not count as broken.
   */
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

  /** Sends the play's next request. */
  send(play: Play, dueAt: number): void {
    this.play = play;
    this.dueAt = dueAt;
    const { request } = play.step;
    if (request.length > this.bytes.length) this.bytes = Buffer.allocUnsafe(request.length);
    request.write(this.bytes, play.player, play.number);
    // If the socket is still connecting, the `connect` handler sends the request later.
    if (this.socket.readyState === 'open') this.write(request.length);
  }

  private open(): Socket {
    const { hostname, port } = new URL(this.url);
    // Receive into the shared buffer and parse the answer there, without Node's streams.
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

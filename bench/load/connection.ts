import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Answer } from './answer.js';
import type { Play } from './dealer.js';

const REQUEST_BYTES = 1024;
/** One for all connections: what comes is read before more comes, on whichever. */
const received = Buffer.allocUnsafe(64 * 1024);

export interface ConnectionListener {
  answered(connection: Connection, play: Play, answer: Answer, isEchoed: boolean): void;
  /** The server has closed the connection, or says something unasked. */
  lost(why: string): void;
}

/** A keep-alive connection with one request at a time on it. */
export class Connection {
  readonly isOpen: Promise<unknown>;
  /** Whose request has no answer yet; undefined while nothing is awaited. */
  play: Play | undefined = undefined;
  /** When that request was due. */
  dueAt = 0;
  private readonly socket: Socket;
  /** Filled again for each request: when one is answered, its bytes have left. */
  private bytes = Buffer.allocUnsafe(REQUEST_BYTES);
  private isClosed = false;

  constructor(
    url: string,
    private readonly listener: ConnectionListener,
  ) {
    const { hostname, port } = new URL(url);
    // Bytes come into our own buffer, past Node's streams, and are looked at there.
    const onread = { buffer: received, callback: (length: number) => this.receive(length) };
    this.socket = connect({ host: hostname, port: Number(port), noDelay: true, onread });
    this.isOpen = once(this.socket, 'connect');
    this.socket.on('error', (error) => listener.lost(error.message));
    this.socket.on('close', () => this.isClosed || listener.lost('the server has closed a connection'));
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
    this.socket.write(this.bytes.subarray(0, request.length));
  }

  private receive(length: number): boolean {
    const { play } = this;
    const answer = new Answer(received, length);
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

import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { AnswerParser } from './answer-parser.js';
import { Finding } from './finding.js';
import type { Sending } from './sending.js';

/** The time to wait after bytes that are not a complete request and need no answer. */
const MOMENT_MS = 150;

/** Result of sending to a connection. */
export interface Exchange {
  readonly sending: Sending;
  readonly received: Buffer;
  readonly parser: AnswerParser;
}

/** Sends to one connection. Throws a `Finding` if the server does not answer within `patienceMs`. */
export async function exchange(port: number, sending: Sending, timeoutMs: number): Promise<Exchange> {
  const connection = new Connection(port, sending);
  try {
    await connection.send();
    const isInTime = await connection.end(timeoutMs);
    const result = connection.result();
    if (isInTime) return result;
    throw new Finding(`neither an answer nor a close in ${timeoutMs} ms`, sending.parts, result.received);
  } finally {
    connection.leave();
  }
}

class Connection {
  private readonly socket: Socket;
  private readonly parser: AnswerParser;
  private readonly chunks: Buffer[] = [];
  private isOver = false;
  private hasFailed = false;
  private onNews: () => void = () => {};

  constructor(
    port: number,
    private readonly sending: Sending,
  ) {
    this.parser = new AnswerParser((n) => sending.requests[n]?.method ?? 'GET');
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.socket.on('data', (chunk) => {
      this.chunks.push(chunk);
      this.parser.add(chunk);
      this.onNews();
    });
    this.socket.on('error', () => {
      this.hasFailed = true;
    });
    this.socket.on('end', () => {
      this.parser.finish();
      this.over();
    });
    this.socket.on('close', () => this.over());
  }

  async send(): Promise<void> {
    const { parts, pause } = this.sending;
    for (const [n, part] of parts.entries()) {
      if (this.isOver) return;
      if (n > 0 && typeof pause === 'number') await delay(pause);
      this.socket.write(part);
      // If the answer does not arrive, `end` reports it.
      if (pause === 'answered') await this.until(() => this.parser.answers.length > n, MOMENT_MS * 10);
    }
  }

  /** Ends the connection as planned. Returns false if the answers were still incomplete after `patienceMs`. */
  async end(timeoutMs: number): Promise<boolean> {
    const { ending, requests, areSound } = this.sending;
    const isAnswered = () => this.parser.answers.length >= requests.length;
    if (ending === 'vanishes' || ending === 'resets') return true;
    if (ending === 'half-closes') this.socket.end();
    if (ending === 'outstays') return await this.until(() => false, timeoutMs);
    if (areSound && requests.length > 0) return await this.until(isAnswered, timeoutMs);
    await this.until(() => false, MOMENT_MS);
    return true;
  }

  /** Result of the exchange. A truncated answer counts as a fault only if its rest cannot have been lost in transit. */
  result(): Exchange {
    const { parser, hasFailed, sending } = this;
    if (!hasFailed && this.isOver && parser.isBetween) parser.error ??= 'the answer breaks off';
    return { sending, received: Buffer.concat(this.chunks), parser };
  }

  leave(): void {
    const { ending } = this.sending;
    // A reset leaves no port in TIME_WAIT. In 60 s, such ports would use up this machine's ports. A half-closed socket
    // can no longer be reset, and Node 20 would keep its handle forever.
    if (ending === 'vanishes' || ending === 'half-closes') this.socket.destroy();
    else this.socket.resetAndDestroy();
  }

  private over(): void {
    this.isOver = true;
    this.onNews();
  }

  /** Waits until the connection ends or the condition holds. Returns false if neither happens within `ms`. */
  private async until(hasCome: () => boolean, ms: number): Promise<boolean> {
    if (this.isOver || hasCome()) return true;
    return await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), ms);
      this.onNews = () => {
        if (!this.isOver && !hasCome()) return;
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}

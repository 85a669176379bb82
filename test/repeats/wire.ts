import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '../../src/simulate/client.js';
import { isFinal, whyNotFinal } from '../../src/simulate/reply.js';
import type { Answer } from './answer.js';

const ANSWER_MS_MAX = 20_000;
const PAUSE_MS = 20;
/** Time limit for an answer, which is longer than any restart, restore or move of a server. */
const GIVE_UP_MS = 60_000;

/** An answer. `wasUnknown` is true if an earlier attempt, which got no answer, may have reached the server. */
export interface Asked {
  readonly answer: Answer & { readonly balance?: number };
  readonly wasUnknown: boolean;
}

/** Sends callbacks to one operator. */
export interface Wire {
  /** Sends the request repeatedly until a final answer arrives. */
  ask(endpoint: string, body: string): Promise<Asked>;
  /** Sends the request and cuts the connection without waiting for the answer. */
  cut(endpoint: string, body: string): Promise<void>;
  /** The player's transactions as text, in an order that does not depend on when they are listed. */
  list(username: string): Promise<string>;
}

/** Sends requests to a real walletd, which may have several nodes and may be killed or restarted elsewhere. */
export class RealWire implements Wire {
  /** Number of requests that were sent again because their outcome was unknown. */
  resent = 0;
  adminUrl = '';
  private clients: readonly Client[] = [];
  private next = 0;
  private held: Promise<void> | undefined;
  private isClosed = false;

  /** Sends all further requests to these servers. */
  moveTo(callbackUrls: readonly string[], adminUrl: string): void {
    for (const client of this.clients) client.close();
    this.clients = callbackUrls.map((url) => new Client(url, ANSWER_MS_MAX, undefined));
    this.adminUrl = adminUrl;
  }

  /** Holds back requests until `run` has ended. */
  async whileHeld(run: () => Promise<void>): Promise<void> {
    const { promise, resolve } = withResolvers();
    this.held = promise;
    try {
      await run();
    } finally {
      this.held = undefined;
      resolve();
    }
  }

  async ask(endpoint: string, body: string): Promise<Asked> {
    let endMs: number | undefined;
    for (;;) {
      if (this.held !== undefined) await this.held;
      const reply = await this.client().post(`/${endpoint}`, body);
      if (isFinal(reply)) {
        return { answer: reply.fields as unknown as Asked['answer'], wasUnknown: endMs !== undefined };
      }
      if (this.isClosed) throw new Error('the wire is closed');
      this.resent++;
      endMs ??= performance.now() + GIVE_UP_MS;
      if (performance.now() > endMs)
        throw new Error(`${body} has no answer in ${GIVE_UP_MS} ms: ${whyNotFinal(reply)}`);
      await delay(PAUSE_MS);
    }
  }

  async cut(endpoint: string, body: string): Promise<void> {
    if (this.held !== undefined) await this.held;
    await this.client().cut(`/${endpoint}`, body);
  }

  async list(username: string): Promise<string> {
    const lines: string[] = [];
    let before = '';
    do {
      const page = await this.operate(`/v1/players/${username}/transactions?limit=1000${before}`);
      const { transactions, next } = JSON.parse(page) as { transactions: object[]; next: string | null };
      lines.push(...transactions.map(withoutTimes));
      before = next === null ? '' : `&before=${next}`;
    } while (before !== '');
    const { balance, openBets, openStakes } = JSON.parse(await this.operate(`/v1/players/${username}`)) as Record<
      string,
      number
    >;
    return [...lines.sort(), JSON.stringify({ balance, openBets, openStakes })].join('\n');
  }

  /** Sends a GET request, or a POST request with JSON lines, until one succeeds. */
  async operate(path: string, lines?: string): Promise<string> {
    for (const endMs = performance.now() + GIVE_UP_MS; ; await delay(PAUSE_MS)) {
      if (this.held !== undefined) await this.held;
      const init = { method: 'POST', headers: { 'Content-Type': 'application/x-ndjson' }, body: lines ?? '' };
      const answer = await fetch(`${this.adminUrl}${path}`, lines === undefined ? {} : init).then(
        async (response) => (response.ok ? await response.text() : new Error(await response.text())),
        (error: Error) => error,
      );
      if (!(answer instanceof Error)) return answer;
      if (this.isClosed || performance.now() > endMs) throw new Error(`${path}: ${answer.message}`);
    }
  }

  /** Closes the clients, so that pending requests fail. */
  close(): void {
    this.isClosed = true;
    for (const client of this.clients) client.close();
  }

  private client(): Client {
    return this.clients[this.next++ % this.clients.length] as Client;
  }
}

/**
 * Removes times, which may differ between a round in memory and an archived one. Amounts and states must not differ.
 */
function withoutTimes(transaction: object): string {
  const { createdMillis: _created, updatedMillis: _updated, ...rest } = transaction as Record<string, unknown>;
  return JSON.stringify(rest);
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

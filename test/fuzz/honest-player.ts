import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { everyCallback, type Step } from '../faults/rounds.js';
import { type CallbackAnswer, PlatformClient } from '../support/client.js';
import { Finding } from './finding.js';
import type { Honest } from './honest.js';

const CURRENCY = 'THB';
const BALANCE = 1000;
const ROUNDS = 18;
const BUSY = 50_001;
const REST_MS = 20;
const GIVE_UP_MS = 60_000;
const REPEAT_EVERY = 4;

type Headers = Record<string, string>;

/** The address and credentials of an honest player. */
export interface Table {
  readonly callbackUrl: string;
  readonly adminUrl: string;
  readonly adminHeaders: Headers;
  readonly timeoutMs: number;
  signatureOf(body: string): Headers;
}

/**
 * Plays rounds with all callbacks that move money during the attacks, one player after another, and knows every answer
 * in advance. After a 503 or a lost connection, the player sends the same request again, which must have the same
 * outcome.
 */
export class HonestPlayer implements Honest {
  readonly probes = 0;
  answers = 0;
  repeats = 0;
  private readonly client: PlatformClient;
  private balance = 0;

  constructor(
    private readonly table: Table,
    private readonly stop: AbortSignal,
  ) {
    this.client = new PlatformClient(table.callbackUrl, table.timeoutMs, (body) => table.signatureOf(body));
  }

  /** Plays at least one player from creation to end. Throws a `Finding` at a wrong answer. */
  async play(goesOn: () => boolean): Promise<void> {
    let n = 0;
    do await this.live(`honest-${n++} ☂/é`, goesOn);
    while (goesOn());
  }

  close(): void {
    this.client.close();
  }

  private async live(username: string, goesOn: () => boolean): Promise<void> {
    const path = `/v1/players/${encodeURIComponent(username)}`;
    const player = { username, currency: CURRENCY, status: 'active', openBets: 0, openStakes: 0, session: null };
    await this.operate('PUT', path, { currency: CURRENCY }, { ...player, balance: 0 });
    await this.move(username, path, 'deposits', BALANCE, BALANCE);
    this.balance = BALANCE;
    for (let i = 0; i < ROUNDS && (i < ROUNDS / 2 || goesOn()); i++) {
      for (const step of everyCallback(username, `${i}`, i)) await this.take(step);
    }
    await this.operate('GET', path, undefined, { ...player, balance: this.balance });
    await this.move(username, path, 'withdrawals', this.balance, -this.balance);
  }

  private async take({ endpoint, body, moves }: Step): Promise<void> {
    const { id, productId, currency, username } = body;
    const moved = { balanceBefore: this.balance, balanceAfter: this.balance + moves };
    const expected = { id, statusCode: 0, productId, currency, ...moved, username };
    const ask = async () => {
      const answer = await this.client.post(endpoint, body).catch((error: Error) => error);
      if (!(answer instanceof Error)) return answer.statusCode === BUSY ? undefined : withoutTime(answer);
      if (answer.message === 'no answer') throw new Finding(`${username} has waited too long for ${endpoint}`);
      return undefined;
    };
    await this.expect(`${endpoint} of ${JSON.stringify(body)}`, expected, ask);
    if (this.answers % REPEAT_EVERY === 0) await this.expect(`a repeat of ${JSON.stringify(body)}`, expected, ask);
    this.balance += moves;
  }

  private async move(username: string, path: string, kind: string, amount: number, moves: number): Promise<void> {
    const before = kind === 'deposits' ? 0 : this.balance;
    const asked = { id: kind, amount };
    const moved = { balanceBefore: before, balanceAfter: before + moves };
    await this.operate('POST', `${path}/${kind}`, asked, { ...asked, username, currency: CURRENCY, ...moved });
  }

  private async operate(method: string, path: string, body: object | undefined, expected: object): Promise<void> {
    const { adminUrl, adminHeaders, timeoutMs } = this.table;
    await this.expect(`${method} ${path}`, expected, async () => {
      const signal = AbortSignal.timeout(timeoutMs);
      const headers = body === undefined ? adminHeaders : { ...adminHeaders, 'Content-Type': 'application/json' };
      const init = { method, headers, signal, body: body === undefined ? null : JSON.stringify(body) };
      const response = await fetch(adminUrl + path, init).catch(() => undefined);
      if (signal.aborted) throw new Finding(`${method} ${path} was not answered in ${timeoutMs} ms`);
      const answer = (await response?.json().catch(() => undefined)) as object | undefined;
      return answer === undefined || response?.status === 503 ? undefined : withoutRepeated(answer);
    });
  }

  /** Repeats the request until an answer arrives, which must equal the expected one. */
  private async expect(what: string, expected: object, ask: () => Promise<object | undefined>): Promise<void> {
    const endMs = performance.now() + GIVE_UP_MS;
    for (let answer = await ask(); ; answer = await ask()) {
      if (answer !== undefined) {
        this.answers++;
        if (isDeepStrictEqual(answer, expected)) return;
        throw new Finding(`${what}\nwas answered ${JSON.stringify(answer)}\ninstead of   ${JSON.stringify(expected)}`);
      }
      if (performance.now() > endMs) throw new Finding(`${what}\nwas not served for ${GIVE_UP_MS} ms`);
      this.repeats++;
      await delay(REST_MS);
      this.stop.throwIfAborted();
    }
  }
}

function withoutTime(answer: CallbackAnswer): object {
  const { timestampMillis: _, ...rest } = answer as CallbackAnswer & { timestampMillis: unknown };
  return rest;
}

/**
 * Removes `repeated`, which an operation's answer contains if the request was sent again, for example after a lost
 * answer.
 */
function withoutRepeated(answer: object): object {
  const { repeated: _, ...rest } = answer as { repeated?: true };
  return rest;
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FeedEvent } from '../../src/feed/event.js';
import { balanceOf, bet, importPlayers, PlatformClient } from '../support/client.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { WalletdProcess } from '../support/walletd-process.js';

const PLAYERS = Array.from({ length: 10 }, (_, i) => `p${i}`);
const OPENING_BALANCE = 1000;
const CONNECTIONS = 16;
/** Number of answers before each kill. */
const ANSWERS = 200;
const KILLS = 2;

test('a consumer gets each answered callback exactly once despite two kill -9', async () => {
  const folder = makeTempFolder();
  const env = { WALLETD_STORE: `lmdb:${folder.path}` };
  const answered: string[] = [];
  const consumer = new Consumer();
  let walletd = await WalletdProcess.start(env);
  try {
    await consumer.create(walletd.adminUrl);
    await importPlayers(walletd.adminUrl, PLAYERS, OPENING_BALANCE);
    for (let kill = 0; kill < KILLS; kill++) {
      const before = consumer.events.size;
      const consuming = consumer.run(walletd);
      const playing = play(walletd, kill, answered);
      await until('callbacks were answered', () => answered.length >= (kill + 1) * ANSWERS);
      await until('the consumer has read some of them', () => consumer.events.size > before);
      await walletd.end('SIGKILL');
      await Promise.all([consuming, playing]);
      walletd = await WalletdProcess.start(env);
    }
    await until('the consumer has read everything', async () => (await consumer.step(walletd.adminUrl, 0)) === 0);
    await check([...consumer.events.values()], answered, walletd.adminUrl);
  } finally {
    await walletd.end('SIGTERM');
    folder.remove();
  }
});

/** A consumer that acknowledges only after it has stored the events. */
class Consumer {
  /** Events by id, in the order of their first delivery. */
  readonly events = new Map<string, FeedEvent>();

  async create(adminUrl: string): Promise<void> {
    await json(`${adminUrl}/v1/feeds`, { name: 'crm', from: 'start' });
  }

  /** Reads until the server has ended. A refused read is repeated. */
  async run({ adminUrl, child }: WalletdProcess): Promise<void> {
    while (child.exitCode === null && child.signalCode === null) {
      await this.step(adminUrl, 5).catch((error: Error) => {
        if (error instanceof assert.AssertionError) throw error;
      });
    }
  }

  /** Reads and acknowledges one page. Returns its number of events. */
  async step(adminUrl: string, waitSeconds: number): Promise<number> {
    const url = `${adminUrl}/v1/feeds/crm`;
    const page = await json<{ events: FeedEvent[]; next: string }>(`${url}/events?limit=50&wait=${waitSeconds}`);
    for (const event of page.events) {
      const known = this.events.get(event.id);
      if (known === undefined) this.events.set(event.id, event);
      else assert.deepEqual(event, known);
    }
    await json(`${url}/ack`, { position: page.next });
    return page.events.length;
  }
}

async function json<T>(url: string, body?: object): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(url, body && { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

/** Places bets on several connections until the server ends; notes the ids of the answered requests. */
async function play(walletd: WalletdProcess, run: number, answered: string[]): Promise<void> {
  const platform = new PlatformClient(walletd.callbackUrl);
  const connection = async (index: number) => {
    try {
      for (let i = 0; ; i++) {
        const body = bet(PLAYERS[(index + i) % PLAYERS.length] as string, `b${run}-${index}-${i}`, 0.01);
        const { statusCode } = await platform.post('placeBets', body);
        assert.equal(statusCode, 0);
        answered.push(body.id);
      }
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => connection(index)));
  platform.close();
}

async function check(events: readonly FeedEvent[], answered: readonly string[], adminUrl: string): Promise<void> {
  const requests = events.flatMap(({ data }) => data.requestId ?? []);
  const distinct = new Set(requests);
  assert.equal(distinct.size, requests.length, 'no request has two events');
  assert.deepEqual(
    answered.filter((id) => !distinct.has(id)),
    [],
  );
  const balances = new Map<string, string | null>();
  for (const { subject, data } of events) {
    assert.equal(data.balanceBefore, balances.get(subject) ?? '0');
    balances.set(subject, data.balanceAfter);
  }
  for (const username of PLAYERS) assert.equal(Number(balances.get(username)), await balanceOf(adminUrl, username));
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bet, importPlayers, PlatformClient } from '../support/client.js';
import { assertBooks, ConsumerBooks } from '../support/consumer-books.js';
import { FeedConsumer } from '../support/feed-consumer.js';
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
  const books = new ConsumerBooks();
  const consumer = new FeedConsumer('crm', (event) => books.take(event));
  let walletd = await WalletdProcess.start(env);
  try {
    await consumer.create(walletd.adminUrl);
    await importPlayers(walletd.adminUrl, PLAYERS, OPENING_BALANCE);
    for (let kill = 0; kill < KILLS; kill++) {
      const before = books.count;
      const consuming = consume(consumer, walletd);
      const playing = play(walletd, kill, answered);
      await until('callbacks were answered', () => answered.length >= (kill + 1) * ANSWERS);
      await until('the consumer has read some of them', () => books.count > before);
      await walletd.end('SIGKILL');
      await Promise.all([consuming, playing]);
      walletd = await WalletdProcess.start(env);
    }
    await until(
      'the consumer has read everything',
      async () => (await consumer.step(walletd.adminUrl, 0)).length === 0,
    );
    await assertBooks(books, { players: PLAYERS, requestIds: answered, adminUrl: walletd.adminUrl });
  } finally {
    await walletd.end('SIGTERM');
    folder.remove();
  }
});

/** Reads until the server has ended. A refused read is repeated. */
async function consume(consumer: FeedConsumer, { adminUrl, child }: WalletdProcess): Promise<void> {
  while (child.exitCode === null && child.signalCode === null) {
    await consumer.step(adminUrl, 5).catch((error: Error) => {
      if (error instanceof assert.AssertionError) throw error;
    });
  }
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

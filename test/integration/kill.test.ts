import assert from 'node:assert/strict';
import { test } from 'node:test';
import { balanceOf, bet, type CallbackAnswer, importPlayers, PlatformClient, settlement } from '../support/client.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { WalletdProcess } from '../support/walletd-process.js';

/** Number of kills. `npm run test:faults` kills more often. */
const KILLS = 2;
const PLAYERS = Array.from({ length: 20 }, (_, i) => `p${i}`);
const OPENING_BALANCE = 1_000_000;
const CONNECTIONS = 32;
/** Number of answers before each kill. */
const ANSWERS = 300;

/** One callback as remembered by the platform. */
interface Sent {
  readonly endpoint: string;
  readonly username: string;
  readonly body: object;
  /** The amount by which the callback changes the balance. */
  readonly moves: number;
  answer: CallbackAnswer | undefined;
}

for (const workers of ['0', '2']) {
  test(`each answered callback takes effect exactly once despite two kill -9 (${workers} workers)`, () =>
    killTwice(workers));
}

async function killTwice(workers: string): Promise<void> {
  const folder = makeTempFolder();
  const env = { WALLETD_STORE: `lmdb:${folder.path}`, WALLETD_WORKERS: workers };
  const sent: Sent[] = [];
  let walletd = await WalletdProcess.start(env);
  try {
    await importPlayers(walletd.adminUrl, PLAYERS, OPENING_BALANCE);
    for (let kill = 0; kill < KILLS; kill++) {
      await loadUntilKilled(walletd, kill, sent);
      walletd = await WalletdProcess.start(env);
      await checkBalances(walletd, sent);
    }
    const unanswered = sent.filter(({ answer }) => answer === undefined).length;
    assert.ok(unanswered > 0, 'the kills came while requests were in flight');

    await repeatAll(walletd, sent);
    for (const username of PLAYERS) {
      const moved = sent.filter((one) => one.username === username).reduce((sum, one) => sum + one.moves, 0);
      assert.equal(await balanceOf(walletd.adminUrl, username), OPENING_BALANCE + moved);
    }
  } finally {
    await walletd.end('SIGTERM');
    folder.remove();
  }
}

/** Places and settles bets on many connections until the process has ended. */
async function loadUntilKilled(walletd: WalletdProcess, kill: number, sent: Sent[]): Promise<void> {
  const client = new PlatformClient(walletd.callbackUrl);
  const send = async (one: Sent): Promise<boolean> => {
    sent.push(one);
    try {
      one.answer = await client.post(one.endpoint, one.body);
      assert.equal(one.answer.statusCode, 0);
      return true;
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return false;
    }
  };
  const connection = async (name: number) => {
    for (let i = 0; ; i++) {
      const username = PLAYERS[(name + i) % PLAYERS.length] as string;
      const id = `k${kill}-c${name}-${i}`;
      const place = { endpoint: 'placeBets', username, body: bet(username, id, 3), moves: -3, answer: undefined };
      if (!(await send(place))) return;
      const settle = {
        endpoint: 'settleBets',
        username,
        body: settlement(username, id, 5),
        moves: 5,
        answer: undefined,
      };
      if (!(await send(settle))) return;
    }
  };
  const connections = Array.from({ length: CONNECTIONS }, (_, name) => connection(name));
  const isEnough = () => sent.filter(({ answer }) => answer !== undefined).length >= ANSWERS * (kill + 1);
  await until(`${ANSWERS} answers`, isEnough);
  await walletd.end('SIGKILL');
  await Promise.all(connections);
  client.close();
}

/**
 * Every answered callback must have been applied. Each unanswered one may have been applied. The balance must match a
 * subset of the unanswered ones.
 */
async function checkBalances(walletd: WalletdProcess, sent: readonly Sent[]): Promise<void> {
  for (const username of PLAYERS) {
    const own = sent.filter((one) => one.username === username);
    const answered = own.filter((one) => one.answer !== undefined).reduce((sum, one) => sum + one.moves, 0);
    const open = own.filter((one) => one.answer === undefined).map((one) => one.moves);
    const least = OPENING_BALANCE + answered + open.filter((move) => move < 0).reduce((sum, move) => sum + move, 0);
    const most = OPENING_BALANCE + answered + open.filter((move) => move > 0).reduce((sum, move) => sum + move, 0);
    const balance = await balanceOf(walletd.adminUrl, username);
    assert.ok(balance >= least && balance <= most, `${username}: ${balance} is not within ${least} to ${most}`);
  }
}

/** Repeats everything. Answered callbacks get their first answers again, and the others are executed once. */
async function repeatAll(walletd: WalletdProcess, sent: readonly Sent[]): Promise<void> {
  const client = new PlatformClient(walletd.callbackUrl);
  const rest = [...sent];
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (let one = rest.shift(); one !== undefined; one = rest.shift()) {
        const again = await client.post(one.endpoint, one.body);
        assert.equal(again.statusCode, 0);
        if (one.answer === undefined) continue;
        assert.equal(again.balanceBefore, one.answer.balanceBefore);
        assert.equal(again.balanceAfter, one.answer.balanceAfter);
      }
    }),
  );
  client.close();
}

import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { startPeer } from '../../bench/support/servers.js';
import { startStore } from '../../bench/support/store.js';
import { withCleanUp } from '../support/clean-up.js';
import { bet, importPlayers, PlatformClient, type RequestBody, settlement } from '../support/client.js';
import { startPostgres, whyNoPostgres } from '../support/postgres.js';
import { TestNode } from '../support/test-node.js';
import { whyNoRedis } from '../support/versions.js';

/*
 * A comparison is fair only between servers that do the same work, so the same transcript is sent to walletd and to
 * each peer. A row has the status code, and the balances before and after the callback. A row without balances is a
 * refusal.
 */
type Expected = readonly [statusCode: number, before?: number, after?: number];
type Line = readonly [endpoint: string, body: RequestBody, ...expected: Expected];

const TRANSCRIPT: readonly Line[] = [
  ['placeBets', bet('ann', 'b-1', 10.5), 0, 100, 89.5],
  ['placeBets', bet('ann', 'b-1', 10.5), 0, 100, 89.5],
  ['placeBets', bet('ann', 'b-1', 10.25), 20002],
  ['placeBets', inRound('other', bet('ann', 'b-1', 10.5)), 20002],
  ['placeBets', bet('ann', 'b-2', 89.5), 0, 89.5, 0],
  ['placeBets', bet('ann', 'b-3', 0.0001), 10002],
  ['placeBets', bet('ann', 'b-1', 10.5), 0, 100, 89.5],
  ['settleBets', settlement('ann', 'b-3', 1), 20001],
  ['settleBets', settlement('ann', 'b-1', 25.5), 0, 0, 25.5],
  ['settleBets', settlement('ann', 'b-1', 25.5), 0, 0, 25.5],
  ['settleBets', settlement('ann', 'b-1', 25.25), 20004],
  ['settleBets', settlement('ann', 'b-2', 0), 0, 25.5, 25.5],
  ['settleBets', settlement('ann', 'b-2', 0), 0, 25.5, 25.5],
  ['placeBets', bet('ann', 'b-1', 10.5), 0, 100, 89.5],
  ['placeBets', bet('ann', 'b-3', 0.0001), 0, 25.5, 25.4999],
  ['placeBets', bet('bob', 'b-1', 1), 0, 100, 99],
  ['placeBets', { ...bet('bob', 'b-1', 1), productId: 'Q' }, 0, 99, 98],
  ['settleBets', { ...settlement('bob', 'b-1', 2), productId: 'Q' }, 0, 98, 100],
  ['placeBets', bet('nobody', 'b-1'), 10001],
  ['settleBets', settlement('nobody', 'b-1', 1), 10001],
  ['placeBets', { ...bet('ann', 'b-1', 10.5), currency: 'EUR' }, 40003],
  ['settleBets', { ...settlement('ann', 'b-1', 25.5), currency: 'EUR' }, 40003],
];

const TWINS = 20;

test('walletd answers the transcript', async () => {
  const node = await TestNode.start();
  try {
    await play(node.callbackUrl, node.adminUrl);
  } finally {
    await node.close();
  }
});

test('Fastify with one Lua script per callback gives the same answers', { skip: whyNoRedis() ?? false }, () =>
  withCleanUp(async () => {
    const { redisUrl } = await startStore({ store: 'redis', durability: 'fsync', folder: tmpdir() });
    const { url } = await startPeer('lua', 'fastify-lua', [redisUrl as string]);
    await play(url, url);
  }),
);

test(
  'Fastify with one PostgreSQL function call per callback gives the same answers',
  { skip: whyNoPostgres() ?? false },
  () => playOnPostgres('fastify-postgres'),
);

test('Fastify with several statements per callback gives the same answers', { skip: whyNoPostgres() ?? false }, () =>
  playOnPostgres('fastify-row-lock'),
);

function playOnPostgres(file: string): Promise<void> {
  return withCleanUp(async () => {
    const { url } = await startPeer(file, file, [startPostgres(tmpdir()).url]);
    await play(url, url);
  });
}

async function play(url: string, adminUrl: string): Promise<void> {
  await importPlayers(adminUrl, ['ann', 'bob', 'eve'], 100);
  const client = new PlatformClient(url, 0, () => ({ 'Content-Type': 'application/json' }));
  try {
    for (const [endpoint, body, ...reported] of TRANSCRIPT) {
      const { timestampMillis: _, ...answer } = (await client.post(endpoint, body)) as unknown as RequestBody;
      assert.deepEqual(answer, expected(body, reported), `${endpoint} ${JSON.stringify(body)}`);
    }
    await playTwins(client);
  } finally {
    client.close();
  }
}

/** Sends repeats at the same time as their originals. Both get the same answer, and money moves only once. */
async function playTwins(client: PlatformClient): Promise<void> {
  const twins = (endpoint: string, body: RequestBody) =>
    Promise.all(Array.from({ length: TWINS }, () => client.post(endpoint, body)));
  const balances = (answers: readonly { balanceBefore?: number; balanceAfter?: number }[]) =>
    new Set(answers.map(({ balanceBefore, balanceAfter }) => `${balanceBefore} ${balanceAfter}`));
  assert.deepEqual(balances(await twins('placeBets', bet('eve', 'b-1', 60))), new Set(['100 40']));
  assert.deepEqual(balances(await twins('settleBets', settlement('eve', 'b-1', 5))), new Set(['40 45']));
  assert.equal((await client.post('placeBets', bet('eve', 'b-2', 45))).balanceAfter, 0);
}

function expected({ id, productId, currency, username }: RequestBody, reported: Expected) {
  const [statusCode, balanceBefore, balanceAfter] = reported;
  if (balanceBefore === undefined) return { id, statusCode, productId };
  return { id, statusCode, productId, currency, balanceBefore, balanceAfter, username };
}

function inRound(roundId: string, body: RequestBody): RequestBody {
  return { ...body, txns: body.txns.map((txn) => ({ ...txn, roundId })) };
}

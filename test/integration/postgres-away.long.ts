import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { cleanUp } from '../support/clean-up.js';
import { balanceOf, bet, type CallbackAnswer, importPlayers, PlatformClient, settledRound } from '../support/client.js';
import { freePort } from '../support/free-port.js';
import { LocalCluster } from '../support/local-cluster.js';
import { startPostgres, whyNoPostgres } from '../support/postgres.js';
import { PostgresDatabases } from '../support/postgres-databases.js';
import { RedisServer } from '../support/redis-server.js';
import { runCommand } from '../support/run-command.js';
import { inTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { WalletdProcess } from '../support/walletd-process.js';

/*
 * PostgreSQL is unreachable while walletd starts or takes over a shard. Before nodes kept a key filter of archived
 * rounds, all new bets got 503.
 */
const AT_ONCE = { WALLETD_RETENTION_MEMORY_SECONDS: '0.02', WALLETD_REQUEST_DEADLINE_MS: '700', WALLETD_SHARDS: '1' };
const BALANCE = 1000;
const PLAYER = 'ann';
const BUSY = 50001;
const NAMES_FILE = /^archive-names-[0-9a-f]{8}-0$/;

async function post(url: string, endpoint: string, body: object): Promise<CallbackAnswer> {
  const client = new PlatformClient(url);
  try {
    return await client.post(endpoint, body);
  } finally {
    client.close();
  }
}

const settle = (url: string, n: number, player = PLAYER) => post(url, 'settleBets', settledRound(player, n));
const place = (url: string, id: string, player = PLAYER) => post(url, 'placeBets', bet(player, id));

async function sum(adminUrl: string, name: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const values = [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)`, 'gm'))].map(([, value]) =>
    Number(value),
  );
  return values.reduce((all, value) => all + value, 0);
}

async function readiness(adminUrl: string): Promise<readonly [number, string]> {
  const response = await fetch(`${adminUrl}/readyz`);
  return [response.status, ((await response.json()) as { status: string }).status];
}

/** Settles rounds, and waits until they are in the archive and no longer in memory. */
async function archive(walletd: WalletdProcess, rounds: readonly number[], answers: Map<number, CallbackAnswer>) {
  const before = await sum(walletd.adminUrl, 'walletd_archived_rounds_total');
  for (const n of rounds) {
    const answer = await settle(walletd.callbackUrl, n);
    assert.equal(answer.statusCode, 0);
    answers.set(n, answer);
  }
  await until('the rounds in the archive', async () => {
    return (await sum(walletd.adminUrl, 'walletd_archived_rounds_total')) >= before + rounds.length;
  });
  await hasLeft(walletd);
}

/** Waits until all rounds have left memory and that change is durable. */
async function hasLeft(walletd: WalletdProcess): Promise<void> {
  await until('their events', async () => (await sum(walletd.adminUrl, 'walletd_transactions')) === 0);
  // Wait for durability with a request, because an answer reflects only durable changes.
  await balanceOf(walletd.adminUrl, PLAYER);
}

async function snapshot(walletd: Pick<WalletdProcess, 'adminUrl'>): Promise<void> {
  const response = await fetch(`${walletd.adminUrl}/v1/snapshots`, { method: 'POST' });
  assert.match(await response.text(), /"taken"/);
}

test('a new store accepts bets even if its archive was never reachable', async () => {
  const redis = await RedisServer.start();
  await inTempFolder(async (folder) => {
    const walletd = await WalletdProcess.start({
      ...AT_ONCE,
      WALLETD_STORE: redis.url,
      WALLETD_INIT: 'auto',
      WALLETD_NODE_FOLDER: folder,
      WALLETD_ARCHIVE: `postgres://w:w@127.0.0.1:${await freePort()}/w`,
    });
    assert.deepEqual(await readiness(walletd.adminUrl), [200, 'ready']);
    await importPlayers(walletd.adminUrl, [PLAYER], BALANCE);
    for (const id of ['b1', 'b2']) assert.equal((await place(walletd.callbackUrl, id)).statusCode, 0);
    assert.equal((await settle(walletd.callbackUrl, 1)).statusCode, 0);
    assert.equal(await balanceOf(walletd.adminUrl, PLAYER), BALANCE - 1);
    assert.equal(await walletd.end('SIGTERM'), 0);
  });
  await redis.destroy();
});

describe('stores with archived rounds', { skip: whyNoPostgres() }, () => {
  const server = whyNoPostgres() === undefined ? startPostgres(tmpdir()) : undefined;
  const databases = server && new PostgresDatabases(server);
  after(async () => await cleanUp());

  let isAway = false;
  function crash(): void {
    server?.crash();
    isAway = true;
  }
  function bringBack(): void {
    if (isAway) server?.start();
    isAway = false;
  }

  async function inScene(run: (env: Record<string, string>, folder: string) => Promise<void>): Promise<void> {
    const redis = await RedisServer.start();
    try {
      const url = databases?.url(await databases.create()) as string;
      await inTempFolder(async (folder) => {
        await run({ WALLETD_STORE: redis.url, WALLETD_INIT: 'auto', WALLETD_ARCHIVE: url }, folder);
      });
    } finally {
      bringBack();
      await redis.destroy();
    }
  }

  /** Checks that repeats get 503 while PostgreSQL is unreachable, and their first answers afterwards. */
  async function answersLater(walletd: WalletdProcess, answers: ReadonlyMap<number, CallbackAnswer>): Promise<void> {
    const balance = await balanceOf(walletd.adminUrl, PLAYER);
    for (const n of answers.keys()) assert.equal((await settle(walletd.callbackUrl, n)).statusCode, BUSY, `round ${n}`);
    assert.equal(await balanceOf(walletd.adminUrl, PLAYER), balance, 'no money moved');
    bringBack();
    for (const [n, answer] of answers) {
      await until('the archive answers', async () => (await settle(walletd.callbackUrl, n)).statusCode === 0);
      const { balanceBefore, balanceAfter } = await settle(walletd.callbackUrl, n);
      assert.deepEqual([balanceBefore, balanceAfter], [answer.balanceBefore, answer.balanceAfter], `round ${n}`);
    }
    assert.equal(await balanceOf(walletd.adminUrl, PLAYER), balance);
    await until('it is ready', async () => (await readiness(walletd.adminUrl))[0] === 200);
  }

  for (const [signal, title] of [
    ['SIGTERM', 'takes new bets after a clean stop while PostgreSQL is away'],
    ['SIGKILL', 'takes new bets after kill -9 while PostgreSQL is away'],
  ] as const) {
    test(title, () =>
      inScene(async (scene, folder) => {
        const env = { ...AT_ONCE, ...scene, WALLETD_NODE_FOLDER: folder };
        const answers = new Map<number, CallbackAnswer>();
        const first = await WalletdProcess.start(env);
        await importPlayers(first.adminUrl, [PLAYER], BALANCE);
        await archive(first, [1, 2], answers);
        await snapshot(first);
        await archive(first, [3], answers);
        await first.end(signal);
        crash();
        const second = await WalletdProcess.start(env);
        assert.deepEqual(await readiness(second.adminUrl), [200, 'ready']);
        for (const id of ['b1', 'b2', 'b3']) assert.equal((await place(second.callbackUrl, id)).statusCode, 0, id);
        await answersLater(second, answers);
        assert.equal(await second.end('SIGTERM'), 0);
        const [file] = readdirSync(folder).filter((name) => NAMES_FILE.test(name));
        assert.equal(statSync(join(folder, String(file))).mode & 0o777, 0o600);
      }),
    );
  }

  test('a node whose key filter is unverified is not ready', () =>
    inScene(async (scene, folder) => {
      const env = { ...AT_ONCE, ...scene, WALLETD_NODE_FOLDER: folder };
      const answers = new Map<number, CallbackAnswer>();
      const first = await WalletdProcess.start(env);
      await importPlayers(first.adminUrl, [PLAYER], BALANCE);
      await archive(first, [1], answers);
      await snapshot(first);
      const [name] = readdirSync(folder).filter((one) => NAMES_FILE.test(one));
      const path = join(folder, String(name));
      const behind = readFileSync(path);
      await archive(first, [2], answers);
      assert.equal(await first.end('SIGTERM'), 0);
      const newest = readFileSync(path);
      const flipped = Buffer.from(newest);
      flipped[newest.length - 1] = (flipped[newest.length - 1] ?? 0) ^ 1;
      const others = await fileOfOther(env);
      for (const [bytes, reason] of [
        [undefined, undefined],
        [flipped, /it is damaged in part/],
        [newest.subarray(0, -1), /it is damaged in part/],
        [behind, /it ends at .*, and the snapshot at/],
        [others, /it belongs to a different store/],
      ] as const) {
        if (bytes === undefined) rmSync(path);
        else writeFileSync(path, bytes);
        crash();
        const walletd = await WalletdProcess.start(env);
        await until('it says why', async () => (await readiness(walletd.adminUrl))[1] === 'archive-unknown');
        assert.equal((await readiness(walletd.adminUrl))[0], 503);
        const { stdout } = await runCommand(['status'], { WALLETD_ADMIN_PORT: new URL(walletd.adminUrl).port });
        assert.match(
          stdout,
          /not ready[\s\S]*WRONG +No new bet is taken: Shard 0 is without the keys of archived rounds/,
        );
        if (reason !== undefined) {
          const line = await walletd.waitFor(({ code }) => code === 'archive-names-file-unusable');
          assert.match(String(line.error), reason);
        }
        assert.equal((await place(walletd.callbackUrl, 'b1')).statusCode, BUSY);
        await answersLater(walletd, answers);
        await hasLeft(walletd);
        assert.equal(await walletd.end('SIGTERM'), 0);
      }
    }));

  /** Contents of the file with the same name and size from a different store. */
  async function fileOfOther(env: Record<string, string>): Promise<Buffer> {
    const redis = await RedisServer.start();
    let bytes: Buffer | undefined;
    await inTempFolder(async (folder) => {
      const url = databases?.url(await databases.create()) as string;
      const other = { ...env, WALLETD_STORE: redis.url, WALLETD_ARCHIVE: url, WALLETD_NODE_FOLDER: folder };
      const walletd = await WalletdProcess.start(other);
      await importPlayers(walletd.adminUrl, [PLAYER], BALANCE);
      await archive(walletd, [1, 2, 3, 4], new Map());
      assert.equal(await walletd.end('SIGTERM'), 0);
      const [name] = readdirSync(folder).filter((one) => NAMES_FILE.test(one));
      bytes = readFileSync(join(folder, String(name)));
    });
    await redis.destroy();
    return bytes as Buffer;
  }

  test('a node that takes over accepts new bets while PostgreSQL is away', () =>
    inScene(async (scene) => {
      const players = Array.from({ length: 8 }, (_, i) => `p${i}`);
      const cluster = await LocalCluster.start({ nodes: 2, env: { ...AT_ONCE, ...scene, WALLETD_SHARDS: '4' } });
      try {
        await importPlayers(cluster.adminUrl, players, BALANCE);
        for (const player of players) assert.equal((await settle(cluster.callbackUrl, 1, player)).statusCode, 0);
        const names = async (i: number) => await sum(cluster.node(i).adminUrl, 'walletd_archive_names');
        await until('both nodes know all names', async () => (await names(0)) >= 16 && (await names(1)) >= 16);
        await until(
          'all has left memory',
          async () => (await sum(cluster.node(0).adminUrl, 'walletd_transactions')) === 0,
        );
        crash();
        await cluster.end(0, 'SIGKILL');
        await cluster.servedWithout(0);
        const { adminUrl, callbackUrl } = cluster.node(1);
        assert.deepEqual(await readiness(adminUrl), [200, 'ready']);
        for (const player of players) {
          assert.equal((await place(callbackUrl, 'b', player)).statusCode, 0, player);
          assert.equal((await settle(callbackUrl, 1, player)).statusCode, BUSY, player);
          assert.equal(await balanceOf(adminUrl, player), BALANCE, 'the bet of 1 after a win of 1');
        }
        bringBack();
        for (const player of players) {
          await until('the archive answers', async () => (await settle(callbackUrl, 1, player)).statusCode === 0);
        }
      } finally {
        await cluster.close();
      }
    }));

  test('without PostgreSQL a shard moves only to a node with its key filter', () =>
    inScene(async (scene) => {
      const players = Array.from({ length: 12 }, (_, i) => `p${i}`);
      const cluster = await LocalCluster.start({ nodes: 2, env: { ...AT_ONCE, ...scene, WALLETD_SHARDS: '4' } });
      const { callbackUrl } = cluster;
      const repeatsWait = async () => {
        for (const player of players) assert.equal((await settle(callbackUrl, 1, player)).statusCode, BUSY, player);
      };
      const betsAreTaken = async (id: string) => {
        for (const player of players)
          assert.equal((await place(callbackUrl, id, player)).statusCode, 0, `${id} ${player}`);
      };
      const all = Array.from({ length: 4 }, (_, shard) => shard);
      const owned = async (by: string) => (await cluster.owners()).filter((owner) => owner === by).length;
      const moveAll = async (to: string) => {
        for (const shard of all) await cluster.ask(`/v1/cluster/shards/${shard}/move`, { node: to });
      };
      try {
        await importPlayers(cluster.adminUrl, players, BALANCE);
        const answers = new Map<string, CallbackAnswer>();
        for (const player of players) {
          const accepted = async () => {
            const answer = await settle(callbackUrl, 1, player);
            return answer.statusCode === 0 && answer;
          };
          // A busy machine may answer the first one only after its deadline.
          answers.set(player, await until(`${player} has settled`, accepted));
        }
        const sumOf = async (i: number, name: string) => await sum(cluster.node(i).adminUrl, name);
        await until('both nodes know all names', async () => {
          return (await sumOf(0, 'walletd_archive_names')) >= 24 && (await sumOf(1, 'walletd_archive_names')) >= 24;
        });
        await until('all has left memory', async () => {
          return (await sumOf(0, 'walletd_transactions')) + (await sumOf(1, 'walletd_transactions')) === 0;
        });
        // Take a snapshot, after which the trimmed log no longer contains the archived keys.
        await snapshot(cluster);
        crash();
        for (const to of ['node-1', 'node-0']) {
          await moveAll(to);
          await until(`all shards are on ${to}`, async () => (await owned(to)) === 4);
          await betsAreTaken(to);
          await repeatsWait();
        }
        // Replace the node by one on a new machine, which has no key filter.
        assert.equal(await cluster.end(1, 'SIGTERM'), 0);
        rmSync(cluster.nodeFolder(1), { recursive: true });
        const newcomer = await cluster.startNode(1);
        await moveAll('node-1');
        for (const shard of all)
          await newcomer.waitFor((line) => line.code === 'shard-left-to-owner' && line.shard === shard);
        assert.deepEqual(await readiness(newcomer.adminUrl), [200, 'ready']);
        await betsAreTaken('later');
        await repeatsWait();
        assert.equal(await owned('node-0'), 4);
        bringBack();
        await until('the shards have moved', async () => (await owned('node-1')) === 4);
        await betsAreTaken('last');
        for (const [player, answer] of answers) {
          const again = await settle(callbackUrl, 1, player);
          assert.deepEqual([again.statusCode, again.balanceAfter], [0, answer.balanceAfter], player);
          assert.equal(await balanceOf(cluster.adminUrl, player), BALANCE + 1 - 4, 'four bets of 1 after a win of 1');
        }
      } finally {
        await cluster.close();
      }
    }));
});

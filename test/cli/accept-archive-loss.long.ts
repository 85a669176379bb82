import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { cleanUp } from '../support/clean-up.js';
import { balanceOf, importPlayers, PlatformClient, type RequestBody } from '../support/client.js';
import { startPostgres, whyNoPostgres } from '../support/postgres.js';
import { PostgresDatabases, runSql } from '../support/postgres-databases.js';
import { RedisServer } from '../support/redis-server.js';
import { StoredNode } from '../support/stored-node.js';
import { until } from '../support/until.js';
import type { WalletdProcess } from '../support/walletd-process.js';

const ENV = {
  WALLETD_RETENTION_MEMORY_SECONDS: '0.02',
  WALLETD_SNAPSHOTS_EVERY_SECONDS: '0',
};

function reward(id: string): RequestBody {
  return {
    id: `q-${id}`,
    timestampMillis: 1000,
    productId: 'P',
    currency: 'THB',
    username: 'ann',
    txns: [{ id, status: 'SETTLED', roundId: `r-${id}`, payoutAmount: 100, gameCode: 'g', playInfo: 'p' }],
  } as unknown as RequestBody;
}

interface Answer {
  readonly statusCode: number;
  readonly balanceBefore?: number;
}

async function send({ callbackUrl }: WalletdProcess, id: string): Promise<Answer> {
  const client = new PlatformClient(callbackUrl);
  try {
    return (await client.post('winRewards', reward(id))) as Answer;
  } finally {
    client.close();
  }
}

async function metric({ adminUrl }: WalletdProcess, name: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  return Number(new RegExp(`^${name}\\{[^}]*\\} (\\d+)`, 'm').exec(text)?.[1] ?? Number.NaN);
}

/**
 * Credits rewards one after another, and stops the node when all of them have left memory. Returns the time of each
 * reward.
 */
async function credit(node: StoredNode, ids: readonly string[], signal: NodeJS.Signals = 'SIGTERM'): Promise<string[]> {
  const walletd = await node.start();
  await importPlayers(walletd.adminUrl, ['ann'], 1000);
  const times: string[] = [];
  for (const id of ids) {
    assert.equal((await send(walletd, id)).statusCode, 0);
    await allLeave(walletd);
    times.push(new Date().toISOString());
    await delay(20);
  }
  await node.stop(signal);
  return times;
}

async function allLeave(walletd: WalletdProcess): Promise<void> {
  await until('all rounds have left memory', async () => {
    const [names, transactions] = [
      await metric(walletd, 'walletd_archive_names'),
      await metric(walletd, 'walletd_transactions'),
    ];
    return names > 0 && transactions === 0;
  });
}

/** Sends repeats. Resolves to the server's answers and the money that they moved. */
async function repeats(node: StoredNode, ...ids: readonly string[]) {
  return await repeatsWithin(node, {}, ...ids);
}

/** Sends repeats to a server whose archive is behind. Each lookup waits for the full deadline. */
async function repeatsBehind(node: StoredNode, ...ids: readonly string[]) {
  return await repeatsWithin(node, { WALLETD_REQUEST_DEADLINE_MS: '500' }, ...ids);
}

async function repeatsWithin(node: StoredNode, env: Record<string, string>, ...ids: readonly string[]) {
  const walletd = await node.start(env);
  const answers: (readonly [status: number, before: number | undefined])[] = [];
  for (const id of ids) {
    const { statusCode, balanceBefore } = await send(walletd, id);
    answers.push([statusCode, balanceBefore]);
  }
  const balance = await balanceOf(walletd.adminUrl, 'ann');
  if (answers.every(([status]) => status === 0)) await allLeave(walletd);
  await node.stop();
  return { answers, balance };
}

function nodeOf(t: TestContext, env: Record<string, string> = {}): StoredNode {
  const node = new StoredNode(t, 1);
  Object.assign(node.env, ENV, env);
  return node;
}

const accept = (node: StoredNode, ...options: readonly string[]) => node.run(['accept-loss', '--archive', ...options]);

/** Rows of the newest CSV file of lost rounds. */
function listed(node: StoredNode): string[][] {
  const folder = `${node.folder.path}/node`;
  const name = readdirSync(folder)
    .filter((file) => file.startsWith('lost-rounds-'))
    .sort()
    .at(-1);
  assert.ok(name !== undefined, 'the rounds are listed');
  const path = join(folder, name);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const lines = readFileSync(path, 'utf8').trim().split('\r\n');
  return lines.map((line) => line.split(','));
}

test('LMDB: a lost archive is trusted again only after accept-loss --archive', async (t) => {
  const node = nodeOf(t);
  await credit(node, ['w1', 'w2']);
  const archive = join(node.store, 'archive');
  renameSync(archive, `${archive}.lost`);
  // Create an archive with the same identity, but without the rounds.
  mkdirSync(archive);
  cpSync(`${archive}.lost/archive.json`, `${archive}/archive.json`);
  const behind = await repeatsBehind(node, 'w1');
  assert.deepEqual([behind.answers[0]?.[0], behind.balance], [50001, 1200]);
  const looked = await node.run(['inspect', 'archive', '--json']);
  assert.equal(looked.status, 1);
  const marks = JSON.parse(looked.stdout);
  assert.deepEqual([marks.archiveMark, marks.behind], [null, true]);
  const verified = await node.run(['verify', '--no-server', '--json']);
  assert.equal(verified.status, 1);
  assert.match(
    verified.stdout,
    /the log of shard 0 relies on record \d+-\d+\.\d+ of the archive, which has no records/,
  );
  const copied = await node.run(['backup', '--to', `${node.folder.path}/backup`]);
  assert.equal(copied.status, 1);
  assert.match(
    copied.stderr,
    /^walletd: the log of shard 0 relies on record .*, which has no records of this shard: a copy would/m,
  );
  assert.equal(existsSync(`${node.folder.path}/backup`), false);

  const dry = await accept(node, '--dry-run');
  assert.equal(dry.status, 0, dry.stderr);
  assert.match(dry.stdout, /The log names 2 lost rounds of 1 player\./);
  assert.match(dry.stdout, /counts as new, and moves money again/);
  assert.deepEqual(
    listed(node).map(([, username, , round]) => [username, round]),
    [
      ['username', 'roundId'],
      ['ann', 'r-w1'],
      ['ann', 'r-w2'],
    ],
  );
  assert.equal((await repeatsBehind(node, 'w1')).answers[0]?.[0], 50001, 'nothing was changed');

  const accepted = await accept(node, '--yes');
  assert.equal(accepted.status, 0, accepted.stderr);
  assert.match(accepted.stdout, /Shard 0 continues from \d+-\d+\.\nwalletd trusts the archive from now on\.\n$/);
  // The first run is now the shard's last owner, so the second run needs `--stopped`.
  assert.match((await accept(node, '--yes', '--stopped')).stdout, /^Nothing is missing/);
  const clean = await node.run(['verify', '--deep', '--no-server']);
  assert.equal(clean.status, 0, clean.stdout);
  assert.match(clean.stdout, /2 rounds that had left memory are not in the archive; the loss was accepted at \d+-\d+/);
  assert.equal((await node.run(['inspect', 'archive'])).status, 0);
  const after = await repeats(node, 'w1', 'w1');
  assert.deepEqual(
    [after.answers, after.balance],
    [
      [
        [0, 1200],
        [0, 1200],
      ],
      1300,
    ],
    'new once, a repeat then',
  );
});

test('a running server refuses accept-loss --archive, but not its dry run', async (t) => {
  const node = nodeOf(t);
  await credit(node, ['w1']);
  await node.start();
  const refused = await accept(node, '--yes');
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /is owned by process \d+ .* requires a stopped server/);
  const dry = await accept(node, '--dry-run');
  assert.deepEqual(
    [dry.status, dry.stdout],
    [0, 'Nothing is missing: the archive has everything that the logs rely on.\n'],
  );
});

test('LMDB: a lost day is named with its rounds and can be given up', async (t) => {
  const node = nodeOf(t);
  await credit(node, ['w1']);
  const archive = join(node.store, 'archive');
  const file = readdirSync(archive).find((name) => /^\d{4}-.*\.mdb$/.test(name)) as string;
  renameSync(join(archive, file), join(node.folder.path, file));
  await assert.rejects(node.start(), /the archive lacks 1 of its files, .*accept-loss --archive/);
  const verified = await node.run(['verify', '--no-server']);
  assert.equal(verified.status, 1);
  assert.match(verified.stdout, /archive: the archive lacks .*\.mdb, which had 1 records/);
  const accepted = await accept(node, '--yes');
  assert.equal(accepted.status, 0, accepted.stderr);
  assert.match(accepted.stdout, /^The archive lacks .*\.mdb, which had 1 records\.\n/);
  assert.equal(listed(node)[1]?.[3], 'r-w1');
  const { answers, balance } = await repeats(node, 'w1');
  assert.deepEqual([answers, balance], [[[0, 1100]], 1200]);
});

test('accept-loss --archive does not fence a log that lacks acknowledged entries', async (t) => {
  const node = nodeOf(t);
  await credit(node, ['w1']);
  cpSync(node.store, `${node.store}.old`, { recursive: true });
  await credit(node, ['w2']);
  rmSync(node.store, { recursive: true });
  renameSync(`${node.store}.old`, node.store);
  rmSync(join(node.store, 'archive'), { recursive: true });
  const refused = await accept(node, '--yes');
  assert.equal(refused.status, 1);
  assert.match(
    refused.stderr,
    /which this node has acknowledged.*: run walletd accept-loss without --archive first\n$/,
  );
});

test("a restore raises the archive's mark to that of its log", async (t) => {
  const node = nodeOf(t);
  await credit(node, ['w1']);
  // The backup contains the snapshot that the node took when it stopped.
  const [at = ''] = await credit(node, ['w2', 'w3'], 'SIGKILL');
  const file = `${node.folder.path}/backup`;
  assert.equal((await node.run(['backup', '--to', file])).status, 0);
  const inBackup = await node.run(['inspect', 'archive', '--json', '--store', file]);
  assert.equal(JSON.parse(inBackup.stdout).behind, false);
  const checked = await node.run(['verify', file]);
  assert.equal(checked.status, 0, checked.stdout);
  assert.match(checked.stdout, /archive has\n.* (\d+-\d+\.\d+) +\1\n/);
  for (const [options, balance] of [
    [[], 1300],
    [['--at', at], 1200],
  ] as const) {
    const copy = nodeOf(t);
    const restored = await copy.run(['restore', '--from', file, '--to', copy.env.WALLETD_STORE as string, ...options]);
    assert.equal(restored.status, 0, restored.stderr);
    const marks = JSON.parse((await copy.run(['inspect', 'archive', '--json'])).stdout);
    assert.equal(marks.archiveMark, marks.logMark);
    assert.match(marks.logMark, /^\d/);
    const repeated = await repeats(copy, 'w1', 'w2');
    assert.deepEqual(
      [repeated.answers, repeated.balance],
      [
        [
          [0, 1000],
          [0, 1100],
        ],
        balance,
      ],
    );
  }
});

const noPostgres = whyNoPostgres();
test('PostgreSQL: accept-loss --archive gives up the rounds that an older database lacks', {
  skip: noPostgres,
}, async (t) => {
  const databases = new PostgresDatabases(startPostgres(tmpdir()));
  after(async () => await cleanUp());
  const redis = await RedisServer.start();
  t.after(() => redis.destroy());
  const mine = await databases.create();
  const [older, empty] = [`${mine}_older`, await databases.create()];
  const node = nodeOf(t, { WALLETD_STORE: redis.url, WALLETD_INIT: 'auto', WALLETD_ARCHIVE: databases.url(mine) });
  await credit(node, ['w1']);
  await runSql(databases.url(empty), `CREATE DATABASE ${older} TEMPLATE ${mine}`);
  await credit(node, ['w2']);
  node.env.WALLETD_ARCHIVE = databases.url(older);
  const behind = await repeatsBehind(node, 'w2');
  assert.deepEqual([behind.answers[0]?.[0], behind.balance], [50001, 1200]);
  const accepted = await accept(node, '--yes');
  assert.equal(accepted.status, 0, accepted.stderr);
  assert.match(
    accepted.stdout,
    /of the archive, which ends with record \d+-\d+\.\d+\.\n {2}The log names 1 lost round of/,
  );
  assert.deepEqual(
    listed(node).map((row) => row[3]),
    ['roundId', 'r-w2'],
  );
  const after1 = await repeats(node, 'w1', 'w2');
  assert.deepEqual(
    [after1.answers, after1.balance],
    [
      [
        [0, 1000],
        [0, 1200],
      ],
      1300,
    ],
  );

  node.env.WALLETD_ARCHIVE = databases.url(empty);
  const dry = await accept(node, '--dry-run');
  assert.match(dry.stdout, /which has no records of this shard\.\n {2}The log names 2 lost rounds/, dry.stderr);
  const tables = await runSql(databases.url(empty), "SELECT 1 FROM pg_class WHERE relname LIKE 'walletd%'");
  assert.deepEqual(tables, [], 'a dry run makes no tables');
  assert.equal((await accept(node, '--yes')).status, 0);
  const after2 = await repeats(node, 'w1');
  assert.deepEqual([after2.answers, after2.balance], [[[0, 1300]], 1400]);
});

import assert from 'node:assert/strict';
import { type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { type TestContext, test } from 'node:test';
import { endAfterTests } from '../support/children.js';
import { cleanUp } from '../support/clean-up.js';
import { bet, importPlayers, PlatformClient, settlement } from '../support/client.js';
import { startPostgres, whyNoPostgres } from '../support/postgres.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { RedisServer } from '../support/redis-server.js';
import { runCommand } from '../support/run-command.js';
import { Scrape } from '../support/scrape.js';
import { jsonLines, StoredNode } from '../support/stored-node.js';
import { until } from '../support/until.js';
import { environment, LAUNCHER, runWalletd, UNLAUNCHED } from '../support/walletd-process.js';
import { PLAYERS, serving } from './served-store.js';

interface Reported {
  readonly betId: string;
  readonly username: string;
  readonly [field: string]: unknown;
}

/** The bets from `served-store.ts` as a platform would list them. */
function historyOf(name: string, rounds: number): Reported[] {
  return Array.from({ length: rounds }, (_, i) =>
    PLAYERS.map((username) => ({
      ...{ id: `${username}-${i}`, betId: `${name}-${i}`, username, productId: 'P', currency: 'THB' },
      ...{ roundId: `r-${name}-${i}`, stake: 1, payout: 2, betStatus: 'SETTLED' },
      updatedDate: new Date().toISOString(),
    })),
  ).flat();
}

const text = (records: readonly Reported[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');

/** Plants one difference of each usual kind. `name-4` is the last round. */
function planted(reported: readonly Reported[], name: string): Reported[] {
  const changes: Record<string, object> = {
    [`ann ${name}-0`]: { payout: 2.5 },
    [`bob ${name}-1`]: { stake: 1.0001 },
    [`cat ${name}-2`]: { betStatus: 'VOID' },
    [`dan ${name}-3`]: { betId: 'stranger' },
  };
  const changed = reported.map((record) => ({ ...record, ...changes[`${record.username} ${record.betId}`] }));
  return [...changed, changed.at(-1) as Reported];
}

/** First five columns of the table of differences. */
function rowsOf(stdout: string): string[] {
  const [, table = ''] = stdout.slice(stdout.search(/\d+ differences:/)).split('\n\n');
  const [, ...rows] = table.trimEnd().split('\n');
  return rows.map((row) => row.trim().split(/ {2,}/).slice(0, 5).join(' '));
}

const differencesOf = (name: string) => [
  `payout P r-${name}-0 ann ${name}-0`,
  `stake P r-${name}-1 bob ${name}-1`,
  `state P r-${name}-2 cat ${name}-2`,
  `missing-there P r-${name}-3 dan ${name}-3`,
  `missing-here P r-${name}-3 dan stranger`,
  `duplicate P r-${name}-4 dan ${name}-4`,
];

async function reconciling(store?: string): Promise<void> {
  await serving(async ({ env, folder }) => {
    const file = `${folder}/bets.jsonl`;
    const reported = historyOf('first', 5);
    writeFileSync(file, text(reported));
    const good = await runCommand(['reconcile', '--from', file], env);
    assert.deepEqual([good.stderr, good.status], ['', 0]);
    assert.match(
      good.stdout,
      /^day +product +currency +bets +here +stake +here +payout +here +too much here +credits here\n/,
    );
    assert.match(good.stdout, /P +THB +20 +20 +20 +20 +40 +40 +0 +0\n/);
    assert.match(
      good.stdout,
      /\n\nCompared 20 records of the platform with 20 bets: 20 are the same\.\n\nNothing differs\.\n$/,
    );

    writeFileSync(file, text(planted(reported, 'first')));
    const bad = await runCommand(['reconcile', '--from', file], env);
    assert.deepEqual([bad.stderr, bad.status], ['', 1]);
    assert.match(bad.stdout, /\n6 differences:\n/);
    assert.deepEqual(rowsOf(bad.stdout).sort(), differencesOf('first').sort());

    const json = runWalletd(['reconcile', '--from', file, '--json'], env);
    assert.equal(json.status, 1);
    const lines = jsonLines(json.stdout);
    const total = lines.at(-1) as { clean: boolean; differences: Record<string, number>; equal: number };
    assert.deepEqual([total.clean, total.equal, lines.length], [false, 16, 8]);
    assert.deepEqual(
      Object.entries(total.differences).filter(([, count]) => count > 0),
      [
        ['missing-here', 1],
        ['missing-there', 1],
        ['duplicate', 1],
        ['state', 1],
        ['stake', 1],
        ['payout', 1],
      ],
    );
    const payout = lines.find(({ types }) => String(types) === 'payout') as { platform: object; walletd: object };
    assert.deepEqual(
      { ...payout.platform, time: undefined },
      { line: 1, state: 'SETTLED', stake: '1', payout: '2.5', time: undefined },
    );
    assert.deepEqual(
      { ...payout.walletd, time: undefined },
      { state: 'SETTLED', held: '1', paid: '2', time: undefined },
    );
  }, store);
}

test('a history is compared with an embedded store while a server uses it', () => reconciling());

test('a history is compared with a store in Redis while a server uses it', async () => {
  const redis = await RedisServer.start();
  try {
    await reconciling(redis.url);
  } finally {
    await redis.destroy();
  }
});

test('a history is compared with a store in a Redis Cluster in use', async () => {
  const cluster = await RedisCluster.start({ masters: 3, replicas: 0 });
  try {
    await reconciling(cluster.url);
  } finally {
    await cluster.destroy();
  }
});

test('reconcile reads a pipe, applies a mapping and reports incomparable records', () =>
  serving(async ({ env, folder }) => {
    const reported = historyOf('first', 5);
    const rows = reported.map(({ betId, username }) => `${username},${betId},P,1,2,won`);
    const csv = ['member,ticket,productId,stake,payout,result', ...rows, ''].join('\n');
    const mapping = `${folder}/mapping.json`;
    const columns = { id: 'ticket', username: 'member', status: 'result' };
    writeFileSync(mapping, JSON.stringify({ columns, always: { currency: 'THB' }, statuses: { Won: 'SETTLED' } }));
    const piped = spawnSync('sh', [LAUNCHER, 'reconcile', '--from', '-', '--mapping', mapping], {
      input: csv,
      encoding: 'utf8',
      env: environment(env),
    });
    assert.deepEqual([piped.stderr, piped.status], ['', 0]);
    assert.match(piped.stdout, /Nothing differs\.\n$/);

    const file = `${folder}/bets`;
    writeFileSync(file, text(reported.map((record) => ({ ...record, betId: `x-${record.betId}` }))));
    const apart = await runCommand(['reconcile', '--from', file], env);
    assert.equal(apart.status, 1);
    assert.match(apart.stdout, /\n\nNo bet matches: does the history contain the ids from the callbacks\?/);

    const window = ['--since', '2020-01-01T00:00:00Z', '--until', '2020-01-02T00:00:00Z'];
    const outside = await runCommand(['reconcile', '--from', file, ...window], env);
    assert.deepEqual([outside.status, /\n40 outside the time window/.test(outside.stdout)], [0, true]);

    writeFileSync(file, `${text(reported)}{"betId":"x"}\n`);
    const cases: [string[], number, RegExp][] = [
      [['--from', file], 1, /^walletd: line 21: there is no currency: no column currency that has one\n$/],
      [['--from', `${folder}/none`], 1, /^walletd: cannot read \S+none: ENOENT/],
      [[], 2, /required option '--from <file>'/],
      [['--from', file, '--mapping', file], 2, /^walletd: --mapping \S+: the mapping is not JSON: /],
      [['--from', file, '--mapping', `${folder}/none`], 2, /^walletd: --mapping \S+none: ENOENT/],
      [['--from', file, '--since', 'yesterday'], 2, /it is neither a time/],
      [['--from', file, '--since', '2026-01-01T00:00:00Z', '--until', '2026-01-01T00:05:00Z'], 2, /must be later/],
    ];
    for (const [args, status, stderr] of cases) {
      const refused = await runCommand(['reconcile', ...args], env);
      assert.deepEqual([refused.status, refused.stdout], [status, ''], String(stderr));
      assert.match(refused.stderr, stderr);
    }
    const nowhere = runWalletd(['reconcile', '--from', file], { ...env, TMPDIR: '/nonexistent' });
    assert.equal(nowhere.status, 1);
    assert.match(
      nowhere.stderr,
      /^walletd: cannot create a temporary file in \/nonexistent \(set TMPDIR to use another folder\)/,
    );
  }));

test('temporary files are private, and Ctrl-C leaves none', () =>
  serving(async ({ env, folder }) => {
    const [command = '', ...first] = UNLAUNCHED;
    const options: SpawnOptions = {
      env: environment({ ...env, TMPDIR: folder }),
      stdio: ['pipe', 'ignore', 'inherit'],
    };
    // The command stays alive, because it waits for a history on its standard input.
    const child = endAfterTests(spawn(command, [...first, 'reconcile', '--from', '-'], options));
    const files = () => {
      const fds = `/proc/${child.pid}/fd`;
      return readdirSync(fds).filter((fd) => maybeTarget(`${fds}/${fd}`).includes('walletd-reconcile-'));
    };
    await until('temporary files are open', () => files().length > 0);
    for (const fd of files()) assert.equal(statSync(`/proc/${child.pid}/fd/${fd}`).mode & 0o777, 0o600);
    const ended = once(child, 'exit');
    child.kill('SIGINT');
    assert.deepEqual(await ended, [null, 'SIGINT']);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('walletd-reconcile-')),
      [],
    );
  }));

function maybeTarget(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}

const ARCHIVED = 'bets in the archive are compared like those in memory';

async function archived(node: StoredNode): Promise<void> {
  const walletd = await node.start({ WALLETD_RETENTION_MEMORY_SECONDS: '0.05' });
  await importPlayers(walletd.adminUrl, PLAYERS, 100);
  const client = new PlatformClient(walletd.callbackUrl);
  for (let i = 0; i < 5; i++) {
    for (const username of PLAYERS) {
      assert.equal((await client.post('placeBets', bet(username, `old-${i}`))).statusCode, 0);
      assert.equal((await client.post('settleBets', settlement(username, `old-${i}`, 2))).statusCode, 0);
    }
  }
  await until('all is in the archive', async () => {
    const scrape = await Scrape.of(walletd.adminUrl);
    return scrape.value('walletd_archived_rounds_total') >= 20 && scrape.value('walletd_transactions') === 0;
  });
  // This bet brings the round back into memory, so the archived version becomes outdated.
  assert.equal((await client.post('placeBets', bet('ann', 'again'))).statusCode, 0);
  client.close();
  const reported = [
    ...historyOf('old', 5),
    { ...(historyOf('again', 1)[0] as Reported), betId: 'again', betStatus: 'OPEN' },
  ];
  const file = `${node.folder.path}/bets.jsonl`;
  writeFileSync(file, text(reported));
  for (const isServing of [true, false]) {
    if (!isServing) await node.stop();
    const good = await node.run(['reconcile', '--from', file]);
    assert.deepEqual([good.stderr, good.status], ['', 0], good.stdout);
    assert.match(good.stdout, /Compared 21 records of the platform with 21 bets: 21 are the same\./);
  }
  writeFileSync(file, text([...planted(historyOf('old', 5), 'old'), reported.at(-1) as Reported]));
  const bad = await node.run(['reconcile', '--from', file]);
  assert.equal(bad.status, 1);
  assert.deepEqual(rowsOf(bad.stdout).sort(), differencesOf('old').sort());
}

test(`LMDB: ${ARCHIVED}`, (t) => archived(new StoredNode(t, 2)));

async function onPostgres(t: TestContext): Promise<void> {
  const postgres = startPostgres(tmpdir());
  const redis = await RedisServer.start();
  t.after(async () => {
    await redis.destroy();
    await cleanUp();
  });
  const node = new StoredNode(t, 2);
  Object.assign(node.env, { WALLETD_STORE: redis.url, WALLETD_INIT: 'auto', WALLETD_ARCHIVE: postgres.url });
  await archived(node);
  const file = `${node.folder.path}/bets.jsonl`;
  const { WALLETD_ARCHIVE: _, ...without } = node.env;
  const lost = await runCommand(['reconcile', '--from', file], without);
  assert.equal(lost.status, 1);
  assert.match(lost.stdout, /No archive was read: if the store has one, set WALLETD_ARCHIVE\./);
}

test(`Redis with PostgreSQL: ${ARCHIVED}`, { skip: whyNoPostgres() ?? false }, onPostgres);

import assert from 'node:assert/strict';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { open } from 'lmdb';
import { balanceOf, bet, importPlayers, PlatformClient } from '../support/client.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { runWalletd, UNLAUNCHED, WalletdProcess } from '../support/walletd-process.js';

const PLAYERS = ['ann', 'bob', 'cid', 'dan', 'eve', 'fay', 'gil', 'hal'];

/** A store in a folder, the node's own files beside it, and whatever walletd is running. */
class Place {
  readonly folder = makeTempFolder();
  readonly store = `${this.folder.path}/data`;
  readonly env: Record<string, string>;
  walletd: WalletdProcess | undefined;
  private bets = 0;

  constructor(t: TestContext, shards: number) {
    this.env = {
      WALLETD_STORE: `lmdb:${this.store}`,
      WALLETD_NODE_FOLDER: `${this.folder.path}/node`,
      WALLETD_SHARDS: String(shards),
      WALLETD_WORKERS: '0',
    };
    t.after(async () => {
      await this.walletd?.end('SIGKILL');
      this.folder.remove();
    });
  }

  async start(env: Record<string, string> = {}): Promise<WalletdProcess> {
    this.walletd = await WalletdProcess.start({ ...this.env, ...env }, [], UNLAUNCHED);
    return this.walletd;
  }

  async play(bets: number): Promise<void> {
    const { callbackUrl } = this.walletd as WalletdProcess;
    const client = new PlatformClient(callbackUrl);
    for (let i = 0; i < bets; i++) {
      const username = PLAYERS[i % PLAYERS.length] as string;
      const answer = await client.post('placeBets', bet(username, `b${this.bets++}`, 1));
      assert.equal(answer.statusCode, 0);
    }
    client.close();
  }

  async balances(): Promise<number[]> {
    const { adminUrl } = this.walletd as WalletdProcess;
    return await Promise.all(PLAYERS.map((username) => balanceOf(adminUrl, username)));
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.walletd?.end(signal);
  }

  run(args: readonly string[]) {
    return runWalletd(args, { ...this.env, WALLETD_ADMIN_PORT: this.adminPort });
  }

  /** Ports that the running walletd has taken, for commands that ask it. */
  private get adminPort(): string {
    const url = this.walletd?.child.exitCode === null ? this.walletd.adminUrl : '';
    return url === '' ? '1' : new URL(url).port;
  }
}

const json = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test('SIGTERM takes a snapshot of what has changed, and the next start has nothing to replay', async (t) => {
  const place = new Place(t, 2);
  const { adminUrl } = await place.start();
  await importPlayers(adminUrl, PLAYERS, 100);
  await place.play(20);
  const before = await place.balances();
  await place.stop();
  assert.equal(place.walletd?.log.filter(({ msg }) => msg === 'snapshot taken').length, 2);
  const next = await place.start();
  const recovered = next.log.filter(({ msg }) => msg === 'shard recovered');
  assert.deepEqual(
    recovered.map(({ events }) => events),
    [0, 0],
  );
  assert.deepEqual(await place.balances(), before);
});

test('snapshots are taken by themselves while players bet, and old ones and the log before them go', async (t) => {
  const place = new Place(t, 1);
  const settings = { KEEP: '2', EVERY_ENTRIES: '10', EVERY_SECONDS: '1' };
  const env = Object.fromEntries(Object.entries(settings).map(([name, value]) => [`WALLETD_SNAPSHOTS_${name}`, value]));
  const walletd = await place.start({ ...env, WALLETD_HISTORY_MAX_BYTES: '0' });
  await importPlayers(walletd.adminUrl, PLAYERS, 1000);
  const taken = () => walletd.log.filter(({ msg }) => msg === 'snapshot taken').length;
  for (const endMs = Date.now() + 15_000; taken() < 4 && Date.now() < endMs; ) await place.play(50);
  assert.ok(taken() >= 4);
  const before = await place.balances();
  await place.stop('SIGKILL');
  const db = open({ path: place.store, readOnly: true, encoding: 'binary', keyEncoding: 'binary' });
  const [first] = db.openDB<Buffer, Buffer>({ name: 'log', encoding: 'binary', keyEncoding: 'binary' }).getKeys();
  const sequence = (first as Buffer).readUIntBE(8, 6);
  await db.close();
  assert.ok(sequence > 1, `the log begins with ${sequence}`);
  const list = json(place.run(['snapshot', 'list', '--json']).stdout);
  assert.equal(list.filter(({ state }) => state === 'whole').length, 2);
  await place.start();
  assert.deepEqual(await place.balances(), before);
});

test('snapshot take asks the running server, works on a stopped store, and leaves alone what has not changed', async (t) => {
  const place = new Place(t, 2);
  const { adminUrl } = await place.start();
  await importPlayers(adminUrl, PLAYERS, 100);
  const online = place.run(['snapshot', 'take', '--json']);
  assert.equal(online.status, 0, online.stderr);
  assert.deepEqual(
    json(online.stdout).map(({ type }) => type),
    ['taken', 'taken'],
  );
  await place.play(8);
  const before = await place.balances();
  const alive = runWalletd(['snapshot', 'take'], { ...place.env, WALLETD_ADMIN_PORT: '1' });
  assert.equal(alive.status, 1);
  assert.match(
    alive.stderr,
    /^walletd: no server of this store answers at http:\/\/127\.0\.0\.1:1 .* is owned by process \d+ on .*stopped server only/,
  );
  await place.stop('SIGKILL');
  const offline = place.run(['snapshot', 'take']);
  assert.equal(offline.status, 0, offline.stderr);
  assert.equal(offline.stdout.match(/taken/g)?.length, 2);
  assert.match(place.run(['snapshot', 'take']).stdout, /nothing has changed/);
  const next = await place.start();
  assert.deepEqual(
    next.log.filter(({ msg }) => msg === 'shard recovered').map(({ events }) => events),
    [0, 0],
  );
  assert.deepEqual(await place.balances(), before);
});

test('a server whose fence has been trimmed is not taken for one that has stopped', async (t) => {
  const place = new Place(t, 1);
  const { adminUrl } = await place.start({ WALLETD_SNAPSHOTS_KEEP: '1', WALLETD_HISTORY_MAX_BYTES: '0' });
  await importPlayers(adminUrl, PLAYERS, 100);
  assert.equal(place.run(['snapshot', 'take']).status, 0);
  for (const args of [['snapshot', 'take'], ['accept-loss']]) {
    const refused = runWalletd(args, { ...place.env, WALLETD_ADMIN_PORT: '1' });
    assert.equal(refused.status, 1, refused.stdout);
    assert.match(refused.stderr, /does not name its owner any more: if no server runs on it, add --stopped/);
  }
  await place.stop('SIGKILL');
  assert.match(place.run(['accept-loss', '--stopped']).stdout, /Nothing is missing/);
});

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  test(`an empty store where one was ready, if only till ${signal}, is refused until somebody accepts the loss`, async (t) => {
    const place = new Place(t, 2);
    const { log } = await place.start();
    await place.stop(signal);
    const stopped = log.filter(({ msg }) => /^stopped: everything/.test(String(msg)));
    assert.equal(stopped.length, signal === 'SIGTERM' ? 1 : 0);
    rmSync(place.store, { recursive: true });
    await assert.rejects(place.start(), /there is no store at lmdb:.*, where this node has served .*accept-loss/);
    const asked = place.run(['accept-loss']);
    assert.equal(asked.status, 1);
    assert.match(asked.stderr, /cannot ask without a terminal/);
    const accepted = place.run(['accept-loss', '--yes']);
    assert.equal(accepted.status, 0, accepted.stderr);
    assert.match(accepted.stdout, /This node has forgotten it/);
    await place.start();
  });
}

test('a store that is older than what this node has acknowledged stops, and goes on when somebody accepts that', async (t) => {
  const place = new Place(t, 2);
  const { adminUrl } = await place.start();
  await importPlayers(adminUrl, PLAYERS, 100);
  await place.stop();
  cpSync(place.store, `${place.store}-old`, { recursive: true });
  await place.start();
  await place.play(16);
  await place.stop();
  rmSync(place.store, { recursive: true });
  cpSync(`${place.store}-old`, place.store, { recursive: true });
  await assert.rejects(place.start(), /the log of shard \d lacks \d+-\d+, which this node has acknowledged/);
  const accepted = place.run(['accept-loss', '--yes']);
  assert.equal(accepted.status, 0, accepted.stderr);
  assert.match(accepted.stdout, /Shard 0 goes on from .* players/);
  await place.start();
  assert.deepEqual(
    await place.balances(),
    PLAYERS.map(() => 100),
  );
  await place.play(8);
  await place.stop();
  assert.match(place.run(['accept-loss', '--yes']).stdout, /Nothing is missing/);
});

test('a hole in the log stops its shard only; after accept-loss it goes on from before the hole, and keeps the rest', async (t) => {
  const place = new Place(t, 2);
  const never = { WALLETD_SNAPSHOTS_EVERY_SECONDS: '0' };
  const { adminUrl } = await place.start(never);
  await importPlayers(adminUrl, PLAYERS, 100);
  await place.play(40);
  const before = await place.balances();
  await place.stop('SIGKILL');
  await removeEntry(place.store, 0, 12);
  const broken = await place.start(never);
  const { shards } = (await (await fetch(`${broken.adminUrl}/readyz`)).json()) as {
    shards: { state: string; reason?: string }[];
  };
  assert.deepEqual(
    shards.map(({ state }) => state),
    ['stopped', 'serving'],
  );
  assert.match(shards[0]?.reason ?? '', /does not follow 1-11: the log has a hole .*accept-loss/);
  await place.stop('SIGKILL');
  const accepted = place.run(['accept-loss', '--yes']);
  assert.equal(accepted.status, 0, accepted.stderr);
  assert.match(accepted.stdout, /log up to 1-11/);
  assert.equal(readdirSync(`${place.folder.path}/node`).filter((name) => name.startsWith('lost-0-')).length, 1);
  await place.start(never);
  const after = await place.balances();
  after.forEach((balance, i) => {
    assert.ok(balance >= (before[i] as number), 'later bets of shard 0 are gone, and nothing else');
  });
  assert.notDeepEqual(after, before);
  await place.play(8);
  await place.stop('SIGKILL');
  await place.start(never);
});

async function removeEntry(folder: string, shard: number, sequence: number): Promise<void> {
  const db = open({ path: folder, encoding: 'binary', keyEncoding: 'binary' });
  const log = db.openDB<Buffer, Buffer>({ name: 'log', encoding: 'binary', keyEncoding: 'binary' });
  const key = Buffer.alloc(14);
  key.writeUInt16BE(shard, 0);
  key.writeUInt32BE(1, 2);
  key.writeUIntBE(sequence, 8, 6);
  assert.equal(await log.remove(key), true);
  await db.close();
}

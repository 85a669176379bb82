import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { open } from 'lmdb';
import { LSN_ZERO } from '../../src/ports/lsn.js';
import { LmdbStore } from '../../src/store/lmdb/lmdb-store.js';
import { writeEntries } from '../../src/store/orphans-file.js';
import { importPlayers } from '../support/client.js';
import { nightly } from '../support/nightly.js';
import { runCommand } from '../support/run-command.js';
import { NODE_PLAYERS, StoredNode } from '../support/stored-node.js';
import { inTempFolder } from '../support/temp-folder.js';
import { runWalletd } from '../support/walletd-process.js';

test('accept-loss creates no store at a mistyped address', () =>
  inTempFolder(async (folder) => {
    const mistyped = join(folder, 'mistyped');
    const { status, stderr } = await runCommand(['accept-loss', '--yes'], { WALLETD_STORE: `lmdb:${mistyped}` });
    assert.equal(status, 1);
    assert.match(stderr, /^walletd: there is no store at lmdb:.*mistyped[^\n]*\n$/);
    assert.equal(existsSync(mistyped), false);
  }));

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  const options = signal === 'SIGTERM' ? nightly('the test of SIGKILL runs') : {};
  test(`after ${signal}, a node refuses an empty store until accept-loss`, options, async (t) => {
    const node = new StoredNode(t, 2);
    const { log } = await node.start();
    await node.stop(signal);
    const stopped = log.filter(({ msg, code }) => String(msg).startsWith('stopped,') && code === undefined);
    assert.equal(stopped.length, signal === 'SIGTERM' ? 1 : 0);
    rmSync(node.store, { recursive: true });
    await assert.rejects(node.start(), /there is no store at lmdb:.*, where this node has served .*accept-loss/);
    const asked = runWalletd(['accept-loss'], node.env);
    assert.equal(asked.status, 1);
    assert.match(asked.stderr, /cannot ask for confirmation without a terminal/);
    const accepted = await node.run(['accept-loss', '--yes']);
    assert.equal(accepted.status, 0, accepted.stderr);
    assert.match(accepted.stdout, /This node has forgotten the store/);
    await node.start();
  });
}

test('a store older than the acknowledged entries does not start until accept-loss', async (t) => {
  const node = new StoredNode(t, 2);
  const { adminUrl } = await node.start();
  await importPlayers(adminUrl, NODE_PLAYERS, 100);
  await node.stop();
  const kept = acknowledgedBy(node);
  cpSync(node.store, `${node.store}-old`, { recursive: true });
  await node.start();
  await node.play(16);
  await node.stop();
  const missing = acknowledgedBy(node).map((sequence, shard) => sequence - (kept[shard] as number));
  rmSync(node.store, { recursive: true });
  cpSync(`${node.store}-old`, node.store, { recursive: true });
  // A supervisor restarts the node repeatedly, and each start appends a fence.
  for (let start = 0; start < 3; start++) {
    await assert.rejects(node.start(), /the log of shard \d lacks \d+-\d+, which this node has acknowledged/);
  }
  const { stdout } = await node.run(['accept-loss']);
  const said = [...stdout.matchAll(/^ {2}(\d+) acknowledged entr\w+, from (\S+)Z to (\S+)Z, (?:is|are) missing\.$/gm)];
  assert.deepEqual(
    said.map(([, count]) => Number(count)),
    missing,
  );
  for (const [, , from = '', to = ''] of said) assert.ok(from < to, `${from} ${to}`);
  const accepted = await node.run(['accept-loss', '--yes']);
  assert.equal(accepted.status, 0, accepted.stderr);
  assert.match(accepted.stdout, /Shard 0 continues from .* players/);
  await node.start();
  assert.deepEqual(
    await node.balances(),
    NODE_PLAYERS.map(() => 100),
  );
  await node.play(8);
  await node.stop();
  assert.match((await node.run(['accept-loss', '--yes'])).stdout, /Nothing is missing/);
});

test('accept-loss resumes a shard that a gap in the log stopped', async (t) => {
  const node = new StoredNode(t, 2);
  const never = { WALLETD_SNAPSHOTS_EVERY_SECONDS: '0' };
  const { adminUrl } = await node.start(never);
  await importPlayers(adminUrl, NODE_PLAYERS, 100);
  await node.play(40);
  const before = await node.balances();
  await node.stop('SIGKILL');
  await removeEntry(node.store, 0, 12);
  const broken = await node.start(never);
  const { shards } = (await (await fetch(`${broken.adminUrl}/readyz`)).json()) as {
    shards: { state: string; reason?: string }[];
  };
  assert.deepEqual(
    shards.map(({ state }) => state),
    ['stopped', 'serving'],
  );
  assert.match(shards[0]?.reason ?? '', /does not follow 1-11: the log has a gap .*accept-loss/);
  await node.stop('SIGKILL');
  const accepted = await node.run(['accept-loss', '--yes']);
  assert.equal(accepted.status, 0, accepted.stderr);
  assert.match(accepted.stdout, /from its log from the first entry up to 1-11 \(\d{4}-/);
  assert.match(accepted.stdout, /^ {2}\d+ entries from \S+Z to \S+Z cannot be used; they will be kept in a file\.$/m);
  assert.match(accepted.stdout, /^ {2}They affect \w{3}/m);
  assert.equal(readdirSync(`${node.folder.path}/node`).filter((name) => name.startsWith('lost-0-')).length, 1);
  await node.start(never);
  const after = await node.balances();
  after.forEach((balance, i) => {
    assert.ok(balance >= (before[i] as number), 'later bets of shard 0 are gone, and nothing else');
  });
  assert.notDeepEqual(after, before);
  await node.play(8);
  await node.stop('SIGKILL');
  await node.start(never);
});

test('callbacks from orphans and from a broken log are printed and exported as CSV', async (t) => {
  const node = new StoredNode(t, 1);
  const { adminUrl } = await node.start();
  await importPlayers(adminUrl, NODE_PLAYERS, 100);
  await node.stop();
  cpSync(node.store, `${node.store}-old`, { recursive: true });
  await node.start();
  await node.play(3);
  await node.stop();
  // Simulates the file that a server writes when it is stopped during an outage.
  const store = LmdbStore.open(node.store);
  const bytes = await store.wal.read(0, LSN_ZERO, 1000);
  await store.close();
  const folder = `${node.folder.path}/node`;
  await writeEntries(folder, 'orphans-0-2', [bytes.slice(-3)]);
  const whole = await node.run(['accept-loss']);
  assert.match(whole.stdout, /^Nothing is missing: all shards would start\.$/m, 'the log has all of the file');
  rmSync(node.store, { recursive: true });
  cpSync(`${node.store}-old`, node.store, { recursive: true });
  const { stdout } = await node.run(['accept-loss']);
  assert.match(stdout, /^Shard 0: The callbacks of 3 entries are known to this node;/m);
  const [, path = ''] = /^3 callbacks may be lost; all of them are in (\S+), for the platform\.$/m.exec(stdout) ?? [];
  const [head, ...rows] = readFileSync(path, 'utf8').trimEnd().split('\r\n');
  assert.equal(head?.split(',').slice(0, 6).join(), 'time,username,endpoint,productId,requestId,transactionId');
  assert.deepEqual(
    rows.map((row) => row.split(',').slice(1, 7).join(' ')),
    ['ann', 'bob', 'cid'].map((username, i) => `${username} placeBets P q-b${i} b${i} r-b${i}`),
  );
  assert.match(stdout, /^\S+Z +ann +placeBets +P +q-b0 +b0$/m);
});

test('accept-loss reports the time of the last answer, not of a later start', async (t) => {
  const node = new StoredNode(t, 2);
  const { adminUrl } = await node.start();
  await importPlayers(adminUrl, NODE_PLAYERS, 100);
  await node.stop();
  cpSync(node.store, `${node.store}-old`, { recursive: true });
  await node.start();
  await node.play(16);
  await node.stop();
  const folder = `${node.folder.path}/node`;
  const name = readdirSync(folder).find((one) => one.startsWith('acknowledged-')) as string;
  const record = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { times: Record<string, number> };
  rmSync(node.store, { recursive: true });
  cpSync(`${node.store}-old`, node.store, { recursive: true });
  // Set a later time for the record's file, as if another program had rewritten the file.
  utimesSync(join(folder, name), new Date(), new Date(Date.now() + 3_600_000));
  const { stdout } = await node.run(['accept-loss']);
  for (const shard of [0, 1]) {
    const toMs = Date.parse(new RegExp(`Shard ${shard}: [^]*?, from \\S+ to (\\S+Z),`).exec(stdout)?.[1] ?? '');
    assert.equal(toMs, record.times[shard]);
  }
});

/**
 * The sequence number of the newest entry that this node has acknowledged in each shard, from the node's own record.
 */
function acknowledgedBy(node: StoredNode): number[] {
  const folder = `${node.folder.path}/node`;
  const name = readdirSync(folder).find((one) => one.startsWith('acknowledged-')) as string;
  const { shards } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { shards: Record<string, string> };
  return [0, 1].map((shard) => Number(/^\d+-(\d+)/.exec(shards[shard] as string)?.[1]));
}

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

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from 'lmdb';
import { importPlayers } from '../support/client.js';
import { jsonLines, NODE_PLAYERS, StoredNode } from '../support/stored-node.js';

test('SIGTERM takes a snapshot, so that the next start replays nothing', async (t) => {
  const node = new StoredNode(t, 2);
  const { adminUrl } = await node.start();
  await importPlayers(adminUrl, NODE_PLAYERS, 100);
  await node.play(20);
  const before = await node.balances();
  await node.stop();
  assert.equal(node.walletd?.log.filter(({ msg }) => msg === 'snapshot taken').length, 2);
  const next = await node.start();
  const recovered = next.log.filter(({ msg }) => msg === 'shard recovered');
  assert.deepEqual(
    recovered.map(({ events }) => events),
    [0, 0],
  );
  assert.deepEqual(await node.balances(), before);
});

test('automatic snapshots replace older ones and trim the log', async (t) => {
  const node = new StoredNode(t, 1);
  const settings = { KEEP: '2', EVERY_ENTRIES: '10', EVERY_SECONDS: '1' };
  const env = Object.fromEntries(Object.entries(settings).map(([name, value]) => [`WALLETD_SNAPSHOTS_${name}`, value]));
  const walletd = await node.start({ ...env, WALLETD_HISTORY_MAX_BYTES: '0' });
  await importPlayers(walletd.adminUrl, NODE_PLAYERS, 1000);
  const taken = () => walletd.log.filter(({ msg }) => msg === 'snapshot taken').length;
  for (const endMs = Date.now() + 15_000; taken() < 3 && Date.now() < endMs; ) await node.play(50);
  assert.ok(taken() >= 3);
  const before = await node.balances();
  await node.stop('SIGKILL');
  const db = open({ path: node.store, readOnly: true, encoding: 'binary', keyEncoding: 'binary' });
  const [first] = db.openDB<Buffer, Buffer>({ name: 'log', encoding: 'binary', keyEncoding: 'binary' }).getKeys();
  const sequence = (first as Buffer).readUIntBE(8, 6);
  await db.close();
  assert.ok(sequence > 1, `the log begins with ${sequence}`);
  const list = jsonLines((await node.run(['snapshot', 'list', '--json'])).stdout);
  assert.equal(list.filter(({ state }) => state === 'whole').length, 2);
  await node.start();
  assert.deepEqual(await node.balances(), before);
});

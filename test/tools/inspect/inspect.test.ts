import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from '../../../src/tools/inspect/inspect.js';
import { inspectOrphans } from '../../../src/tools/inspect/inspect-entry.js';
import { ToolError } from '../../../src/tools/store-reader.js';
import { commands } from '../../support/domain.js';

import { WrittenStore, withEntry } from '../written-store.js';

test('readable entries of a broken log are shown with a note about the damage', async () => {
  const store = new WrittenStore();
  await store.takeOver();
  await store.fund('ann', 100);
  for (const id of ['t1', 't2', 't3']) await store.run(commands.place([{ id }]));
  const [damaged] = await store.wal.read(0, { epoch: 1, sequence: 3 }, 1);
  damaged?.writeUInt8(damaged.readUInt8(80) ^ 1, 80);
  const found = await inspect(store.reader, [0], { type: 'player', username: 'ann' });
  assert.deepEqual(
    found.items.map(({ type, id }) => [type, id]),
    [
      ['player-imported', 'open-ann'],
      ['bet-placed', 't1'],
      ['bet-placed', 't3'],
    ],
  );
  assert.equal(found.players[0]?.wallet.balance, 90);
  assert.match(found.notes.join(), /entry 1-4 is damaged.*are those at 1-3/s);
});

test('an entry with a wrong LSN is reported and causes no endless loop', async () => {
  const store = new WrittenStore();
  await store.takeOver();
  await store.fund('ann', 100);
  for (const id of ['t1', 't2', 't3']) await store.run(commands.place([{ id }]));
  const [copy] = await store.wal.read(0, { epoch: 1, sequence: 1 }, 1);
  const reader = withEntry(store, '1-5', () => copy);
  const found = await inspect(reader, [0], { type: 'player', username: 'ann' });
  assert.deepEqual(
    found.items.map(({ id }) => id),
    ['open-ann', 't1', 't2'],
  );
  assert.match(found.notes.join(), /in the log of shard 0 1-2 comes after 1-4/);
});

test('the inspection of a completely unreadable log still ends', async () => {
  const store = new WrittenStore();
  await store.takeOver();
  const [fence] = await store.wal.read(0, { epoch: 0, sequence: 0 }, 1);
  fence?.writeUInt8(0, 80);
  const { notes } = await inspect(store.reader, [0], { type: 'player', username: 'ann' });
  assert.match(notes.join(), /entry 1-1 is damaged/);
});

test('a player with no remembered history is still found', async () => {
  const store = new WrittenStore();
  await store.takeOver();
  await store.run({ type: 'create-player', username: 'ann', currency: 'THB' });
  await store.snapshot();
  await store.takeOver();
  await store.trim((await store.wal.head(0)).lsn);
  const { items, players } = await inspect(store.reader, [0], { type: 'player', username: 'ann' });
  assert.deepEqual([items.length, players.length], [0, 1]);
});

test('operations in both log and snapshot are shown once each', async () => {
  const store = new WrittenStore();
  const by = { name: 'anna', address: '::1' };
  const operate = (action: 'block' | 'unblock') => store.run({ type: `${action}-player`, username: 'ann', by });
  await store.takeOver();
  await store.fund('ann', 100);
  await operate('block');
  await operate('unblock');
  const snapshot = await store.beginSnapshot();
  await operate('block');
  await operate('unblock');
  await snapshot.chunk(1);
  await store.trim({ epoch: 1, sequence: (await snapshot.publish()).start.lsn.sequence + 1 });
  await operate('block');
  const { items } = await inspect(store.reader, [0], { type: 'operators', sinceMs: 0, username: undefined });
  assert.deepEqual(
    items.map(({ type, by }) => `${type} by ${by?.name}`),
    [
      'import by undefined',
      ...['block', 'unblock', 'player-blocked', 'player-unblocked', 'player-blocked'].map((type) => `${type} by anna`),
    ],
  );
});

test('an inspection can have more items than a function call can have arguments', async () => {
  const store = new WrittenStore();
  await store.takeOver();
  await store.fund('ann', 1);
  const rounds = 3;
  const count = 50_000;
  for (let round = 0; round < rounds; round++) {
    const ids = Array.from({ length: count }, (_, i) => `${round}-${i}`);
    await store.run(...ids.map((id) => ({ type: 'deposit', username: 'ann', id, amount: 1 }) as const));
  }
  await store.snapshot();
  await store.takeOver();
  await store.trim((await store.wal.head(0)).lsn);
  const found = await inspect(store.reader, [0], { type: 'player', username: 'ann' });
  assert.equal(found.items.length, rounds * count + 1);
});

test('a damaged entry in an orphans file does not hide the others', async () => {
  const store = new WrittenStore();
  await store.takeOver();
  await store.fund('ann', 100);
  for (const id of ['t1', 't2']) await store.run(commands.place([{ id }]));
  const entries = await store.wal.read(0, { epoch: 1, sequence: 2 }, 2);
  const lengths = entries.map(({ length }) => Buffer.from(Uint32Array.of(length).buffer).swap32());
  const file = Buffer.concat(entries.flatMap((bytes, i) => [lengths[i] as Buffer, bytes]));
  assert.deepEqual((await inspectOrphans(store.reader, file)).notes, []);
  file.writeUInt8(file.readUInt8(84) ^ 1, 84);
  const { orphans, notes } = await inspectOrphans(store.reader, file);
  assert.deepEqual(
    orphans.map(({ entry }) => entry.lsn.sequence),
    [4],
  );
  assert.match(notes.join(), /entry 1-3 is damaged/);
});

test('an orphans file that is cut off is refused', async () => {
  const store = new WrittenStore();
  await assert.rejects(inspectOrphans(store.reader, Buffer.from([0, 0, 1, 0, 5])), ToolError);
  await assert.rejects(
    inspectOrphans(store.reader, Buffer.from([0, 0])),
    /cut off: its last complete entry ends at byte 0/,
  );
});

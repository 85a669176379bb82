import assert from 'node:assert/strict';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { NodeRecord } from '../../src/store/node-record.js';
import { formatPosition } from '../../src/store/position-text.js';
import { makeTempFolder } from '../support/temp-folder.js';

const STORE = 'lmdb:/data';
const CHECKSUM = 0x00c0ffee;
const at = (epoch: number, sequence: number) => [[0, { lsn: { epoch, sequence }, checksum: CHECKSUM }]] as const;

function textIn(record: NodeRecord): string | undefined {
  const entry = record.acknowledged(0);
  return entry && formatPosition(entry);
}

test('simultaneous writes of a process and its successor leave one intact record', async () => {
  const folder = makeTempFolder();
  const [old, successor] = [NodeRecord.open(folder.path, STORE), NodeRecord.open(folder.path, STORE)];
  for (let i = 0; i < 50; i++) {
    await Promise.all([old.write('id', at(1, 10 ** 12 + i)), successor.write('id', at(2, i))]);
    assert.ok([1, 2].includes(NodeRecord.open(folder.path, STORE).acknowledged(0)?.lsn.epoch ?? 0));
  }
  assert.equal(readdirSync(folder.path).length, 1);
  folder.remove();
});

test('the record of a new owner survives a write by the former owner', async () => {
  const folder = makeTempFolder();
  const [old, successor] = [NodeRecord.open(folder.path, STORE), NodeRecord.open(folder.path, STORE)];
  await successor.write('id', at(2, 15));
  await old.write('id', at(1, 12));
  await successor.write('id', at(2, 15));
  assert.deepEqual(NodeRecord.open(folder.path, STORE).acknowledged(0)?.lsn, { epoch: 2, sequence: 15 });
  folder.remove();
});

test('a record that could not be written is written later, even if unchanged', async () => {
  const folder = makeTempFolder();
  const path = `${folder.path}/node`;
  writeFileSync(path, 'in the way');
  const record = NodeRecord.open(path, STORE);
  await assert.rejects(record.write('id', at(1, 5)));
  rmSync(path);
  await record.write('id', at(1, 5));
  assert.equal(textIn(NodeRecord.open(path, STORE)), '1-5:00c0ffee');
  folder.remove();
});

test('a repeated write waits for the pending one', async () => {
  const folder = makeTempFolder();
  const record = NodeRecord.open(folder.path, STORE);
  const first = record.write('id', at(1, 5));
  await record.write('id', at(1, 5));
  assert.equal(textIn(NodeRecord.open(folder.path, STORE)), '1-5:00c0ffee');
  await first;
  folder.remove();
});

test('the map of all entries includes later writes', async () => {
  const folder = makeTempFolder();
  const record = NodeRecord.open(folder.path, STORE);
  const { all } = record;
  assert.equal(all.get(0), undefined);
  await record.write('id', at(1, 5));
  assert.deepEqual(all.get(0)?.lsn, { epoch: 1, sequence: 5 });
  await record.write('id', at(1, 6));
  assert.deepEqual(structuredClone(all).get(0)?.lsn, { epoch: 1, sequence: 6 });
  folder.remove();
});

test("an older walletd's record without checksums can be read", () => {
  const folder = makeTempFolder();
  const record = NodeRecord.open(folder.path, STORE);
  writeFileSync(record.path, JSON.stringify({ store: STORE, storeId: 'id', shards: { 0: '1-5' } }));
  const { storeId, all } = NodeRecord.open(folder.path, STORE);
  assert.equal(storeId, 'id');
  assert.deepEqual(
    [...all].map(([shard, entry]) => [shard, formatPosition(entry)]),
    [[0, '1-5']],
  );
  folder.remove();
});

test('a copy at a new address must have everything acknowledged at the old address', async () => {
  const folder = makeTempFolder();
  await NodeRecord.open(folder.path, STORE).write('id', at(1, 5), 1000);
  const copy = NodeRecord.open(folder.path, 'redis://new');
  assert.equal(copy.acknowledged(0), undefined);
  copy.addOtherAddresses('another id');
  assert.equal(copy.acknowledged(0), undefined);
  copy.addOtherAddresses('id');
  assert.deepEqual(copy.acknowledged(0)?.lsn, { epoch: 1, sequence: 5 });
  assert.equal(copy.acknowledgedMs(0), 1000);
  folder.remove();
});

test('if a store has two addresses, the entry that was noted last counts', async () => {
  const folder = makeTempFolder();
  await NodeRecord.open(folder.path, STORE).write('id', at(5, 90), 1000);
  // At the second address, a loss has been accepted since then, so the newer entry has a smaller LSN.
  await NodeRecord.open(folder.path, 'redis://new').write('id', at(4, 20), 2000);
  for (const store of [STORE, 'redis://new']) {
    const record = NodeRecord.open(folder.path, store);
    record.addOtherAddresses('id');
    assert.deepEqual(record.acknowledged(0)?.lsn, { epoch: 4, sequence: 20 });
  }
  folder.remove();
});

test('an entry counts as noted later even if the clock was set back', async () => {
  const folder = makeTempFolder();
  await NodeRecord.open(folder.path, STORE).write('id', at(5, 90), 9000);
  const copy = NodeRecord.open(folder.path, 'redis://new');
  copy.addOtherAddresses('id');
  await copy.write('id', at(6, 20), 2000);
  const record = NodeRecord.open(folder.path, STORE);
  record.addOtherAddresses('id');
  assert.deepEqual(record.acknowledged(0)?.lsn, { epoch: 6, sequence: 20 });
  folder.remove();
});

test('a restored store lacks entries acknowledged after the end of the restore', async () => {
  const folder = makeTempFolder();
  await NodeRecord.open(folder.path, STORE).write('id', at(1, 5), 1000);
  const record = NodeRecord.open(folder.path, 'redis://new');
  const numbers = (end: string) => record.findLacking('id', [end]).map(({ acknowledged }) => acknowledged.lsn.sequence);
  assert.deepEqual(numbers('1-4:00000000'), [5]);
  assert.deepEqual(numbers('1-5:00c0ffee'), []);
  assert.deepEqual(numbers('1-5:ffffffff'), [5], 'another entry in its place');
  assert.deepEqual(numbers('2-6:00000000'), []);
  assert.deepEqual(record.findLacking('another', ['1-4']), []);
  record.forget('id');
  assert.deepEqual(numbers('1-4:00000000'), []);
  folder.remove();
});

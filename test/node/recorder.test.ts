import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Coded, silentLogger } from '../../src/base/logger.js';
import type { ShardState } from '../../src/engine/shard.js';
import { Recorder, servedHere } from '../../src/node/folder/recorder.js';
import { NodeRecord } from '../../src/store/node-record.js';
import { makeTempFolder } from '../support/temp-folder.js';

/** Shard status fields that do not matter in this test. */
const AT_REST = { players: 0, waiting: 0, timeMs: 0, pendingAppendMs: 0, reason: undefined, lacksNames: false };

test('a process that lost one shard stops recording all shards', async () => {
  const folder = makeTempFolder();
  const states: ShardState[] = ['serving', 'serving'];
  let sequence = 5;
  const status = () =>
    states.map((state, shard) => {
      const head = { lsn: { epoch: 1, sequence }, nonce: '0'.repeat(16), checksum: 7 };
      return { ...AT_REST, shard, state, head };
    });
  const recorder = new Recorder(
    NodeRecord.open(folder.path, 'a store'),
    'id',
    () => servedHere(status()),
    silentLogger,
  );
  const written = () => NodeRecord.open(folder.path, 'a store').acknowledged(0)?.lsn.sequence;
  await recorder.write();
  assert.equal(written(), 5);
  sequence = 6;
  states[1] = 'fenced';
  await recorder.write();
  assert.equal(written(), 5);
  recorder.stop();
  folder.remove();
});

test('failed writes are counted, and logged once', async () => {
  const folder = makeTempFolder();
  const head = { lsn: { epoch: 1, sequence: 1 }, nonce: '0'.repeat(16), checksum: 7 };
  const status = () => [{ ...AT_REST, shard: 0, state: 'serving' as const, head }];
  const lines: string[] = [];
  const log = { ...silentLogger, warn: ({ code }: Coded) => void lines.push(code) };
  writeFileSync(`${folder.path}/file`, '');
  const recorder = new Recorder(
    NodeRecord.open(`${folder.path}/file/node`, 'a store'),
    'id',
    () => servedHere(status()),
    log,
  );
  await recorder.write();
  await recorder.write();
  assert.deepEqual([recorder.failures, lines], [2, ['acknowledged-not-recorded']]);
  recorder.stop();
  folder.remove();
});

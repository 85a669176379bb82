import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Coded, Logger } from '../../src/base/logger.js';
import { warnWithoutArchive } from '../../src/node/boot/start.js';
import { settingsWith } from '../support/settings.js';

const GIB = 1024 ** 3;

function warned(changes: Readonly<Record<string, unknown>>): Coded[] {
  const lines: Coded[] = [];
  const warn = (fields: Coded) => void lines.push(fields);
  const log: Logger = { debug() {}, info() {}, warn, error() {} };
  warnWithoutArchive({ settings: settingsWith({ 'memory.maxBytes': 8 * GIB, ...changes }), log });
  return lines;
}

test('only Redis without an archive warns how many hours its memory will last', () => {
  const [line] = warned({ store: 'redis://localhost' });
  assert.equal(line?.code, 'archive-not-configured');
  const hours = Number(line?.hoursAt100ClosedBetsPerSecond);
  // 8 GiB minus the heap, at 200 bytes per closed bet.
  assert.ok(hours > 90 && hours < 120, `${hours} hours`);
  assert.deepEqual(warned({ store: 'redis://localhost', archive: 'postgres://localhost/a' }), []);
  assert.deepEqual(warned({ store: 'lmdb:/srv/data' }), []);
});

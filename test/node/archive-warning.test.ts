import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Logger } from '../../src/base/logger.js';
import { warnWithoutArchive } from '../../src/node/start.js';
import { settingsWith } from '../support/settings.js';

const GIB = 1024 ** 3;

function warned(changes: Readonly<Record<string, unknown>>): { fields: object; message: string }[] {
  const lines: { fields: object; message: string }[] = [];
  const warn = (fields: object, message: string) => void lines.push({ fields, message });
  const log: Logger = { debug() {}, info() {}, warn, error() {} };
  warnWithoutArchive({ settings: settingsWith({ 'memory.maxBytes': 8 * GIB, ...changes }), log });
  return lines;
}

test('on Redis without an archive a start says for how many hours its memory will do, and only there', () => {
  const [line] = warned({ store: 'redis://localhost' });
  assert.match(line?.message ?? '', /no archive: closed rounds stay in memory/);
  const hours = Number(Object.values(line?.fields ?? {})[0]);
  // 8 GiB less the heap, at 200 bytes for each closed bet.
  assert.ok(hours > 90 && hours < 120, `${hours} hours`);
  assert.deepEqual(warned({ store: 'redis://localhost', archive: 'postgres://localhost/a' }), []);
  assert.deepEqual(warned({ store: 'lmdb:/srv/data' }), []);
});

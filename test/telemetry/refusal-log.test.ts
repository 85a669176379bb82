import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/ports.js';
import { RefusalLog } from '../../src/telemetry/refusal-log.js';

test('the first refusal is said at once, those of the next 10 s together in one line', () => {
  const lines: object[] = [];
  const clock = { nowMs: 0, now: () => 0, monotonicMs: () => clock.nowMs };
  const log = new RefusalLog({ ...silentLogger, warn: (fields) => void lines.push(fields) }, clock, 'refused');
  log.note('no signature', () => 'a');
  for (let n = 0; n < 1000; n++) log.note('no signature', () => assert.fail('nobody reads it'));
  log.note('address not allowed', () => 'b');
  clock.nowMs = 10_000;
  log.note('no signature', () => 'c');
  assert.deepEqual(lines, [
    { refused: { 'no signature': 1 }, lastFrom: 'a' },
    { refused: { 'no signature': 1001, 'address not allowed': 1 }, lastFrom: 'c' },
  ]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/logger.js';
import { RefusalLog } from '../../src/telemetry/refusal-log.js';

const LINE = { code: 'requests-refused', message: 'requests refused' };

test('the first refusal is logged immediately, and the others together every 10 s', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const lines: object[] = [];
  const log = new RefusalLog({ ...silentLogger, warn: ({ code: _, ...fields }) => void lines.push(fields) }, LINE);
  const said = () => lines.splice(0);
  log.note('no signature', () => 'a');
  assert.deepEqual(said(), [{ refused: { 'no signature': 1 }, from: 'a' }]);
  log.note('address not allowed', () => 'b');
  for (let n = 0; n < 1000; n++) log.note('no signature', () => assert.fail('nobody reads it'));
  t.mock.timers.tick(9999);
  assert.deepEqual(said(), []);
  t.mock.timers.tick(1);
  assert.deepEqual(said(), [{ refused: { 'address not allowed': 1, 'no signature': 1000 }, from: 'b' }]);
  log.note('no signature', () => 'c');
  assert.deepEqual(said(), [], 'a line in 10 s');
  t.mock.timers.tick(10_000);
  assert.deepEqual(said(), [{ refused: { 'no signature': 1 }, from: 'c' }]);
  t.mock.timers.tick(10_000);
  assert.deepEqual(said(), []);
  log.note('no signature', () => 'd');
  assert.equal(said().length, 1);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FirstEndpoints } from '../../src/threads/first-endpoints.js';

const WINDOW_MS = 600_000;
const KEY = { low: 1, high: 2 };

const begin = () => new FirstEndpoints(WINDOW_MS, KEY, 0);

test('a body stays bound to its first endpoint for the whole window', () => {
  const memory = begin();
  assert.equal(memory.first('settleBets', 'body', 0), 'settleBets');
  for (const nowMs of [0, 1, WINDOW_MS / 2, WINDOW_MS - 1]) {
    assert.equal(memory.first('winRewards', 'body', nowMs), 'settleBets');
    assert.equal(memory.first('settleBets', 'body', nowMs), 'settleBets');
  }
});

test('a body is forgotten after the window, and its memory is freed', () => {
  const memory = begin();
  memory.first('settleBets', 'body', 0);
  assert.equal(memory.first('winRewards', 'body', WINDOW_MS * 1.2), 'winRewards');
  assert.deepEqual(memory.measures(WINDOW_MS * 3), { bodies: 0, spanMs: WINDOW_MS });
});

test('bodies that differ in one character are different bodies', () => {
  const memory = begin();
  for (let n = 0; n < 5000; n++) assert.equal(memory.first('placeBets', `{"id":"é${n}"}`, n), 'placeBets');
  for (let n = 0; n < 5000; n++) assert.equal(memory.first('adjustBets', `{"id":"é${n}"}`, 5000), 'placeBets');
  assert.equal(memory.first('adjustBets', `${'x'.repeat(200_000)}`, 5000), 'adjustBets');
  assert.equal(memory.first('placeBets', `${'x'.repeat(200_000)}`, 5000), 'adjustBets');
  assert.equal(memory.first('placeBets', `${'x'.repeat(200_001)}`, 5000), 'placeBets');
});

test('a full memory forgets the oldest bodies and reports how far back it reaches', () => {
  const memory = begin();
  for (let n = 0; n < 1_400_000; n++) memory.first('placeBets', `body ${n}`, n / 100);
  const { bodies, spanMs } = memory.measures(14_000);
  assert.ok(bodies <= 1_310_720, `${bodies} bodies are remembered`);
  assert.ok(spanMs < 14_000 && spanMs > 11_000, `the memory spans ${spanMs} ms`);
  assert.equal(memory.first('adjustBets', 'body 1399999', 14_000), 'placeBets');
  assert.equal(memory.first('adjustBets', 'body 0', 14_000), 'adjustBets');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Coded, silentLogger } from '../../src/base/logger.js';
import { OutageError } from '../../src/base/outage-error.js';
import { StoreError } from '../../src/node/drivers/store-error.js';
import { waitForStore } from '../../src/node/drivers/wait-for-store.js';

const away = () => new StoreError('cannot use the store', { cause: new OutageError('connect ECONNREFUSED') });

/** Clock that advances by one second at each reading. */
function ticking() {
  let nowMs = 0;
  return { monotonicMs: () => (nowMs += 1000) };
}

test('an unreachable store is awaited, with a log line every few seconds', async () => {
  const lines: string[] = [];
  const log = {
    ...silentLogger,
    info: (_: object, message: string) => void lines.push(message),
    warn: ({ code }: Coded) => void lines.push(code),
  };
  let attempts = 0;
  const open = async () => {
    if (++attempts <= 7) throw away();
    return 'the store';
  };
  assert.equal(await waitForStore(open, { waitMs: 60_000, clock: ticking(), log }), 'the store');
  assert.deepEqual(lines, ['store-awaited', 'store-awaited', 'store is available']);
});

test("the wait ends at its time limit with the store's error", async () => {
  const open = () => Promise.reject(away());
  await assert.rejects(
    waitForStore(open, { waitMs: 3000, clock: ticking(), log: silentLogger }),
    /cannot use the store/,
  );
});

test('an error other than an outage ends the wait immediately', async () => {
  let attempts = 0;
  const open = async () => {
    attempts++;
    throw new StoreError('Redis does not accept the user or password');
  };
  await assert.rejects(waitForStore(open, { waitMs: 60_000, clock: ticking(), log: silentLogger }), /password/);
  assert.equal(attempts, 1);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeArchiveClock, judgeLogTime } from '../../src/node/boot/examine-time.js';

const NOW_MS = 1_800_000_000_000;
const DAY_MS = 86_400_000;

for (const [title, aheadMs, verdict] of [
  ['a log of this moment', 0, 'good'],
  ['a log that is ahead by clocks that differ', 60_000, 'good'],
  ['a log that is ahead', 61_000, 'bad'],
  ['a log of yesterday', -DAY_MS, 'good'],
  ['a log that is older', -DAY_MS - 1, 'look'],
] as const) {
  test(`the doctor finds ${title} ${verdict}`, () => {
    assert.equal(judgeLogTime(NOW_MS + aheadMs, NOW_MS).verdict, verdict);
  });
}

test("the doctor compares PostgreSQL's clock with this machine's clock", () => {
  assert.equal(judgeArchiveClock(NOW_MS - 5000, NOW_MS).verdict, 'good');
  assert.deepEqual(
    [judgeArchiveClock(NOW_MS + 5001, NOW_MS).verdict, judgeArchiveClock(NOW_MS - 9 * DAY_MS, NOW_MS).says],
    ['look', "PostgreSQL's and this machine's are 9 days apart"],
  );
});

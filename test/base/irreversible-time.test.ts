import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ADVANCE_RATE,
  expiredBeforeMs,
  irreversibleTimeMs,
  longestRetentionMs,
  type TimeWitnesses,
} from '../../src/base/irreversible-time.js';

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 10, 27);
const AHEAD_MS = NOW_MS + 200 * DAY_MS;
const ALONE = { ourMs: NOW_MS, peersMs: [], serverMs: undefined, known: undefined };

const TABLE: readonly (readonly [title: string, witnesses: TimeWitnesses, expected: number | undefined])[] = [
  ['a clock alone confirms nothing', ALONE, undefined],
  ['a peer confirms the clock', { ...ALONE, peersMs: [NOW_MS + 5] }, NOW_MS],
  ['a clock ahead of one peer does not count', { ...ALONE, ourMs: AHEAD_MS, peersMs: [NOW_MS] }, NOW_MS],
  ['a clock ahead of two peers does not count', { ...ALONE, ourMs: AHEAD_MS, peersMs: [NOW_MS, NOW_MS + 1] }, NOW_MS],
  ['most clocks ahead do not outvote one', { ...ALONE, ourMs: AHEAD_MS, peersMs: [AHEAD_MS, NOW_MS] }, NOW_MS],
  [
    'the server of the archive outweighs all peers',
    { ...ALONE, ourMs: AHEAD_MS, peersMs: [AHEAD_MS], serverMs: NOW_MS },
    NOW_MS,
  ],
  ['a server alone confirms the clock', { ...ALONE, serverMs: NOW_MS + 60_000 }, NOW_MS],
  ['a server that is ahead does not advance the time', { ...ALONE, serverMs: AHEAD_MS }, NOW_MS],
  ['a clock behind delays', { ...ALONE, ourMs: NOW_MS - DAY_MS, peersMs: [NOW_MS] }, NOW_MS - DAY_MS],
  [
    'known time goes on as real time does',
    { ...ALONE, known: { confirmedMs: NOW_MS - 1000, elapsedMs: 1000 } },
    NOW_MS,
  ],
  [
    'a clock ahead is bound to the known time',
    { ...ALONE, ourMs: AHEAD_MS, known: { confirmedMs: NOW_MS, elapsedMs: 0 } },
    NOW_MS,
  ],
  [
    'known time advances by a bounded rate',
    { ...ALONE, ourMs: AHEAD_MS, known: { confirmedMs: NOW_MS, elapsedMs: 3_600_000 } },
    NOW_MS + 3_600_000 * ADVANCE_RATE,
  ],
  [
    'witnesses release a node that was down for long',
    { ...ALONE, peersMs: [NOW_MS], known: { confirmedMs: NOW_MS - 90 * DAY_MS, elapsedMs: 0 } },
    NOW_MS,
  ],
];

for (const [title, witnesses, expected] of TABLE) {
  test(title, () => assert.equal(irreversibleTimeMs(witnesses), expected));
}

test('the longest retention of all members applies', () => {
  assert.equal(longestRetentionMs(30, []), 30);
  assert.equal(longestRetentionMs(30, [120, 10]), 120);
  assert.equal(longestRetentionMs(30, [10, undefined]), Number.POSITIVE_INFINITY, 'an older walletd does not say');
});

test('nothing expires before the process has confirmed the time', () => {
  const confirmed = { timeMs: NOW_MS, retentionMs: 30 * DAY_MS };
  assert.equal(expiredBeforeMs(NOW_MS, DAY_MS, undefined, NOW_MS), undefined);
  assert.equal(expiredBeforeMs(NOW_MS, DAY_MS, confirmed, undefined), NOW_MS - 30 * DAY_MS);
  assert.equal(expiredBeforeMs(NOW_MS, 90 * DAY_MS, confirmed, undefined), NOW_MS - 90 * DAY_MS);
  assert.equal(expiredBeforeMs(AHEAD_MS, DAY_MS, { ...confirmed, timeMs: AHEAD_MS }, NOW_MS), NOW_MS - 30 * DAY_MS);
  const silent = { timeMs: NOW_MS, retentionMs: Number.POSITIVE_INFINITY };
  assert.equal(expiredBeforeMs(NOW_MS, DAY_MS, silent, undefined), undefined);
});

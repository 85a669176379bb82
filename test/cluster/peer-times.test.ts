import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PeerTimes } from '../../src/cluster/peer-times.js';

function among(...aheadMs: number[]): PeerTimes {
  const times = new PeerTimes();
  for (const [i, ms] of aheadMs.entries()) times.heard(String(i), ms, 0);
  return times;
}

test('a clock that most other members contradict counts as wrong, except with two members', () => {
  assert.equal(among().outlyingMs, 0);
  assert.equal(among(3_600_000).outlyingMs, 0);
  assert.equal(among(3_600_000).behindMs, 1_800_000, 'it is said all the same');
  assert.equal(among(3_600_000, 3_600_001).outlyingMs, 3_600_000);
  assert.equal(among(-3_600_000, -3_600_001).outlyingMs, 3_600_000);
  assert.equal(among(3_600_000, 2).outlyingMs, 2, 'another one is off');
  assert.equal(among(3_600_000, -3_600_000).outlyingMs, 0);
  assert.equal(among(9_000_000, 9_000_001, 1).outlyingMs, 1);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAgo } from '../../src/cli/print/format.js';

test('a time from a clock that is ahead has no negative age', () => {
  assert.equal(formatAgo(-34_559_994_000), '400 d ahead of this clock');
  assert.equal(formatAgo(-400), '0 s ago');
  assert.equal(formatAgo(7_200_000), '2 h ago');
});

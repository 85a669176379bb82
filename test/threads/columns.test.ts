import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SentCallback } from '../../src/callback/sent-callback.js';
import { callbackAt, columnsOf } from '../../src/threads/columns.js';

const SIGNED: SentCallback = { endpoint: 'placeBets', text: '{}', deadlineMs: 1, isSigned: true, isTraced: false };
const UNSIGNED: SentCallback = { ...SIGNED, isSigned: false, isTraced: true };

test('callbacks in columns arrive as they were sent', () => {
  const columns = columnsOf(7, [SIGNED, UNSIGNED]);
  assert.deepEqual([callbackAt(columns, 0), callbackAt(columns, 1)], [SIGNED, UNSIGNED]);
});

test('callbacks that a node does not mark as signed or unsigned count as signed', () => {
  const { areSigned: _, ...columns } = columnsOf(7, [UNSIGNED]);
  assert.equal(callbackAt(columns, 0).isSigned, true);
});

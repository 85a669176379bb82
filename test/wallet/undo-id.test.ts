import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { ID_LENGTH_MAX, isId } from '../../src/wallet/identifier.js';
import { firstAttemptOf, UNDOABLES, type Undone, undoId } from '../../src/wallet/undo-id.js';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const idOf = (undone: Undone, amount = '-1') => undoId(undone, amount, sha256);

test('different targets, kinds and amounts have different ids', () => {
  const parts = ['a', ':', 'a:', ':a', 'a%3A', '2', 'ก', '"', ' ', 'x'.repeat(256), `${'x'.repeat(255)}:`];
  const targets: Undone[] = UNDOABLES.flatMap((type): Undone[] =>
    type === 'credit' || type === 'reward'
      ? parts.flatMap((productId) => parts.map((id) => ({ type, id, productId })))
      : parts.map((id) => ({ type, id })),
  );
  const ids = targets.flatMap((one) => ['-1', '-1.5', '1'].map((amount) => idOf(one, amount)));
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) assert.ok(isId(id), id);
});

test('the first attempt is recognized by the id of any attempt', () => {
  for (let length = 1; length <= ID_LENGTH_MAX; length++) {
    const undone = { type: 'deposit', id: '7'.repeat(length) } as const;
    for (const attempt of [2, 10, 100]) {
      const id = idOf({ ...undone, attempt });
      assert.ok(isId(id));
      assert.equal(firstAttemptOf(id), idOf(undone));
    }
  }
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { normalFilter, passes } from '../../src/feed/filter.js';
import { type FeedPosition, formatPosition, newerOf, tryPosition } from '../../src/feed/position.js';
import { entryKey } from '../../src/store/lmdb/keys.js';

const STORE = '5b0c4d2e-8a41-4f6b-9c37-d1e2f3a4b5c6';
const OTHER = '00000000-0000-4000-8000-000000000001';

const place = fc
  .tuple(
    fc.nat({ max: 2 ** 31 - 1 }),
    fc.nat({ max: 2 ** 31 - 1 }),
    fc.nat({ max: 2 ** 32 - 1 }),
    fc.nat({ max: 1000 }),
  )
  .map(([epoch, sequence, checksum, items]) => ({ lsn: { epoch, sequence }, checksum, items }));
const at = (sequence: number, items = 0): FeedPosition => [{ lsn: { epoch: 1, sequence }, checksum: 5, items }];

describe('a position', () => {
  test('the text of a position reads as the same position', () => {
    fc.assert(
      fc.property(fc.array(place, { minLength: 1, maxLength: 8 }), (position) => {
        assert.deepEqual(tryPosition(formatPosition(position, STORE), STORE, position.length), position);
      }),
    );
  });

  test('a position of another store or shard count is refused', () => {
    const text = formatPosition(at(1), STORE);
    assert.equal(tryPosition(text, OTHER, 1), undefined);
    assert.equal(tryPosition(text, STORE, 2), undefined);
  });

  test('any other text is refused', () => {
    fc.assert(fc.property(fc.string(), (text) => assert.equal(tryPosition(text, STORE, 1), undefined)));
    const broken = [`1 ${STORE} x`, `1 ${STORE} 1-2-zzzzzzz`, `2 ${STORE} 1-2-3`, `1 ${STORE} 1-2-3--4`];
    for (const text of broken) {
      assert.equal(tryPosition(Buffer.from(text).toString('base64url'), STORE, 1), undefined, text);
    }
  });

  test('a place that no entry of a log can have is refused', () => {
    const text = (lsn: string) => Buffer.from(`1 ${STORE} ${lsn}-0`).toString('base64url');
    for (const lsn of ['4294967296-0', '9999999999-0', '1-281474976710655', '1-999999999999999']) {
      assert.equal(tryPosition(text(lsn), STORE, 1), undefined, lsn);
    }
    const largest = { epoch: 2 ** 32 - 1, sequence: 2 ** 48 - 2 };
    assert.deepEqual(tryPosition(text('4294967295-281474976710654'), STORE, 1)?.[0]?.lsn, largest);
    const next = { ...largest, sequence: largest.sequence + 1 };
    assert.doesNotThrow(() => entryKey(0, next), 'a read after the largest place has a key');
  });

  test('the newer place of each shard wins', () => {
    assert.deepEqual(newerOf(at(1), at(2)), at(2));
    assert.deepEqual(newerOf(at(2), at(1)), at(2));
    assert.deepEqual(newerOf(at(2, 3), at(2, 1)), at(2, 3));
    assert.deepEqual(newerOf([...at(1), ...at(9)], [...at(4), ...at(7)]), [...at(4), ...at(9)]);
  });
});

describe('a filter', () => {
  const event = { type: 'walletd.bet.placed', data: { productId: 'P', currency: 'THB' } } as never;
  const byHand = { type: 'walletd.money.deposited', data: { productId: null, currency: 'THB' } } as never;

  test('every list that is set restricts the events', () => {
    assert.ok(passes({}, event));
    assert.ok(passes({ types: ['walletd.bet.placed'], products: ['P', 'Q'], currencies: ['THB'] }, event));
    assert.ok(!passes({ types: ['walletd.bet.settled'] }, event));
    assert.ok(!passes({ currencies: ['EUR'] }, event));
    assert.ok(!passes({ products: ['P'] }, byHand));
  });

  test('the order of a list does not matter', () => {
    assert.deepEqual(normalFilter({ types: ['b', 'a', 'b'], products: [] }), { types: ['a', 'b'] });
  });
});

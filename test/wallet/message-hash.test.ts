import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashOfMessage } from '../../src/wallet/decide/message-hash.js';
import { commands } from '../support/domain.js';

const { place, cancel, movement } = commands;

test('hashes of messages equal those in existing stores', () => {
  const bet = place([{ id: 'b1', betAmount: 12_345 }], { id: 'q-1', timestampMillis: 1_700_000_000_000 });
  const cancels = cancel(
    [
      { id: 'x', byRound: true },
      { id: 'ü🎲', roundId: 'r2' },
    ],
    { id: 'q-2' },
  );
  const moves = movement([{ id: 'm', status: 'CREDIT', amount: 2 ** 52 }], { id: 'q-3' });
  const hashes = [
    hashOfMessage(bet, false),
    hashOfMessage(bet, true),
    hashOfMessage(cancels, false),
    hashOfMessage(moves, false),
  ];
  assert.deepEqual(hashes, [2129953766281095, 5757005726852293, 3135508021333823, 8598371446777536]);
});

test('every field that affects a decision changes the hash', () => {
  const base = { id: 'a', roundId: 'r', betAmount: 10 };
  const messages = [
    place([base]),
    place([base], { id: 'other' }),
    place([{ ...base, id: 'b' }]),
    place([{ ...base, roundId: 's' }]),
    place([{ ...base, betAmount: 11 }]),
    place([{ ...base, betAmount: 10 + 2 ** 16 }]),
    place([{ ...base, status: 'WAITING' }]),
    place([{ ...base, skipBalanceUpdate: true }]),
    place([{ ...base, id: 'ar', roundId: '' }]),
    place([base, base]),
    place([base, { ...base, id: 'b' }]),
    place([{ ...base, id: 'b' }, base]),
    cancel([base]),
    cancel([{ ...base, byRound: true }]),
  ];
  const hashes = new Set(messages.map((message) => hashOfMessage(message, false)));
  assert.equal(hashes.size, messages.length);
  for (const hash of hashes) assert.ok(Number.isSafeInteger(hash) && hash >= 0 && hash < 2 ** 53);
});

test('without timed hashes, a message with a different time has the same hash', () => {
  const [early, late] = [place([{ id: 'a' }], { timestampMillis: 1 }), place([{ id: 'a' }], { timestampMillis: 2 })];
  assert.equal(hashOfMessage(early, false), hashOfMessage(late, false));
  assert.notEqual(hashOfMessage(early, true), hashOfMessage(late, true));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeRefusal, fieldOf } from '../../src/callback/refusal.js';
import { requestCodecs } from '../../src/callback/request-codec.js';
import { AmountLimits, ScaleTable } from '../../src/wallet/amount.js';
import type { Endpoint } from '../../src/wallet/command.js';
import { bet, settlement } from '../support/client.js';

const scales = new ScaleTable({ default: 2, byCurrency: {} });
const amountLimits = new AmountLimits({ default: 1000, byCurrency: {} }, scales);
const codecs = requestCodecs({
  scales,
  amountLimits,
  creditMax: null,
  movementMax: null,
  txnsMax: 2,
  isStrict: true,
  sessionToken: 'ignore',
});

function reasonFor(endpoint: Endpoint, text: string): string | undefined {
  const { refusal } = codecs[endpoint].read(text);
  return refusal && `${refusal.kind}, ${describeRefusal(refusal)}`;
}

const placed = bet('ann', 'b1', 10);
const [txn] = placed.txns;
const withTxns = (...changes: object[]) => ({ ...placed, txns: changes.map((change) => ({ ...txn, ...change })) });

for (const [body, reason] of [
  [placed, undefined],
  ['{', 'not-json, must be a JSON object in UTF-8'],
  ['[1]', 'type, must be an object'],
  ['7', 'not-json, must be a JSON object in UTF-8'],
  [{ ...placed, username: undefined }, 'missing, username: is missing'],
  [{ ...placed, username: 7 }, 'type, username: must be a string'],
  [{ ...placed, username: '' }, 'length, username: must have 1 to 256 characters'],
  [{ ...placed, username: 'x'.repeat(257) }, 'length, username: must have 1 to 256 characters'],
  [{ ...placed, timestampMillis: -1 }, 'range, timestampMillis: must be >= 0'],
  [{ ...placed, txns: {} }, 'type, txns: must be an array'],
  [{ ...placed, txns: [] }, 'length, txns: must have at least 1 element'],
  [withTxns({}, {}, {}), 'length, txns: must have at most 2 elements (txnsMax)'],
  [withTxns({}, { roundId: undefined }), 'missing, txns[1].roundId: is missing'],
  [withTxns({}, { status: 'LOST' }), 'choice, txns[1].status: must be OPEN or WAITING'],
  [withTxns({ betAmount: '10' }), 'type, txns[0].betAmount: must be a number'],
  [withTxns({ betAmount: -1 }), 'range, txns[0].betAmount: must be >= 0'],
  [withTxns({ betAmount: 0 }), 'zero-stake, txns[0].betAmount: 0 only with isFeature (callbacks.strict)'],
  [withTxns({ betAmount: 0, isFeature: true }), undefined],
  [withTxns({}, { betAmount: 0.001 }), 'decimals, txns[1].betAmount: must have at most 2 decimals'],
  [withTxns({ betAmount: 1001 }), 'range, txns[0].betAmount: must be at most 1000 (money.amountMax)'],
  [withTxns({ playInfo: '\ud800' }), 'lone-surrogate, txns[0].playInfo: must not contain half a character'],
  [{ ...placed, currency: '\udc00' }, 'lone-surrogate, currency: must not contain half a character'],
] as const) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  test(`placeBets ${text.slice(0, 300)} is ${reason ?? 'valid'}`, () => {
    assert.equal(reasonFor('placeBets', text), reason);
  });
}

test('a refusal names the invalid amount', () => {
  const settled = settlement('ann', 'b1', 0.001);
  const reason = 'decimals, txns[0].payoutAmount: must have at most 2 decimals';
  assert.equal(reasonFor('settleBets', JSON.stringify(settled)), reason);
});

test('counters use the same name for a field in all elements', () => {
  const { refusal } = codecs.placeBets.read(JSON.stringify(withTxns({}, { betAmount: 0 })));
  assert.equal(refusal && fieldOf(refusal), 'txns[].betAmount');
});

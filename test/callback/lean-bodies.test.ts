import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINTS } from '../../src/callback/callbacks.js';
import { type RequestCodec, requestCodecs } from '../../src/callback/request-codec.js';
import { AmountLimits, ScaleTable } from '../../src/wallet/amount.js';
import type { ChangingEndpoint, Endpoint } from '../../src/wallet/command.js';
import { LEAN_TXNS, leanBody } from '../support/lean-bodies.js';

const TXNS_MAX = 2;

function codecsWith(isStrict: boolean): Readonly<Record<Endpoint, RequestCodec>> {
  const scales = new ScaleTable({ default: 2, byCurrency: {} });
  return requestCodecs({
    scales,
    amountLimits: new AmountLimits({ default: 1000, byCurrency: {} }, scales),
    creditMax: null,
    movementMax: null,
    txnsMax: TXNS_MAX,
    isStrict,
    sessionToken: 'ignore',
  });
}

const codecs = codecsWith(false);
const strictCodecs = codecsWith(true);

const read = (endpoint: Endpoint, body: object, from = codecs) => from[endpoint].read(JSON.stringify(body));

function txnOf(endpoint: Endpoint, txn: object): Record<string, unknown> | undefined {
  const { command } = read(endpoint, leanBody(endpoint, [txn]));
  return command !== undefined && 'txns' in command ? { ...command.txns[0] } : undefined;
}

const CHANGING = Object.keys(LEAN_TXNS) as ChangingEndpoint[];
const WITH_GAME = CHANGING.filter((one) => !['cancelTips', 'placeTips', 'adjustBalance'].includes(one));
const KEEP_GAME = ['placeBets', 'settleBets', 'winRewards'] as const;

test('fields that affect no decision may be missing or null and become empty', () => {
  for (const endpoint of WITH_GAME) {
    const nulls = { gameCode: null, playInfo: null };
    const txn = txnOf(endpoint, LEAN_TXNS[endpoint]);
    assert.ok(txn, endpoint);
    assert.deepEqual(txnOf(endpoint, { ...LEAN_TXNS[endpoint], ...nulls }), txn, endpoint);
  }
  for (const endpoint of KEEP_GAME) {
    const { gameCode, playInfo } = txnOf(endpoint, LEAN_TXNS[endpoint]) ?? {};
    assert.deepEqual({ gameCode, playInfo }, { gameCode: '', playInfo: '' });
  }
  assert.equal(txnOf('settleBets', { ...LEAN_TXNS.settleBets, turnOver: null })?.turnOver, 0);
});

test('a field that is present is still validated', () => {
  for (const change of [{ gameCode: 7 }, { playInfo: {} }, { playInfo: 'x'.repeat(1025) }, { turnOver: -1 }]) {
    assert.equal(txnOf('settleBets', { ...LEAN_TXNS.settleBets, ...change }), undefined, JSON.stringify(change));
  }
  assert.equal(txnOf('settleBets', { ...LEAN_TXNS.settleBets, gameCode: 'g' })?.gameCode, 'g');
});

test('only a request with missing fields is marked as completed', () => {
  const isMarked = (body: object) => read('placeBets', body).command?.isCompleted === true;
  const full = { ...LEAN_TXNS.placeBets, gameCode: 'g', playInfo: '' };
  assert.equal(isMarked(leanBody('placeBets', [full])), false);
  assert.equal(isMarked(leanBody('placeBets', [full, { ...full, id: 'b2', playInfo: null }])), true);
});

test('only checkBalance may lack a time', () => {
  for (const endpoint of ENDPOINTS) {
    for (const timestampMillis of [undefined, null]) {
      const { command, refusal } = read(endpoint, { ...leanBody(endpoint), timestampMillis });
      assert.equal(command !== undefined, endpoint === 'checkBalance', endpoint);
      if (refusal !== undefined) assert.equal(refusal.path, 'timestampMillis');
    }
  }
});

test('only a settle may lack a status', () => {
  for (const endpoint of CHANGING) {
    for (const status of [undefined, null]) {
      const { command, refusal } = read(endpoint, leanBody(endpoint, [{ ...LEAN_TXNS[endpoint], status }]));
      assert.equal(command !== undefined, endpoint === 'settleBets', endpoint);
      if (refusal !== undefined) assert.equal(refusal.path, 'txns[0].status');
    }
  }
});

test('callbacks.strict requires every field', () => {
  for (const endpoint of WITH_GAME.filter((one) => one !== 'winRewards' && one !== 'rollback')) {
    assert.match(read(endpoint, leanBody(endpoint), strictCodecs).refusal?.path ?? '', /gameCode|turnOver/);
  }
  const { timestampMillis: _, ...timeless } = leanBody('checkBalance');
  assert.equal(read('checkBalance', timeless, strictCodecs).refusal?.path, 'timestampMillis');
});

test('no endpoint accepts the lean body of another endpoint', () => {
  const taken: string[] = [];
  for (const from of CHANGING) {
    for (const [how, change] of Object.entries({ as: {}, 'without status': { status: undefined } })) {
      const body = leanBody(from, [{ ...LEAN_TXNS[from], ...change }]);
      for (const to of ENDPOINTS) {
        if (to !== from && read(to, body).command !== undefined) taken.push(`${from} ${how}: ${to}`);
      }
    }
  }
  // The lean bodies of placeBets and adjustBets are equal (an OPEN bet with a stake) and have always been
  // interchangeable; see docs/security.md "Replays".
  assert.deepEqual(taken, ['placeBets as: adjustBets', 'adjustBets as: placeBets']);
});

test('an array that is too long is refused before defaults are filled in', () => {
  const txns = Array.from({ length: TXNS_MAX + 1 }, () => LEAN_TXNS.placeBets);
  assert.equal(read('placeBets', leanBody('placeBets', txns)).refusal?.path, 'txns');
  for (const odd of [[null], [7], ['x'], {}, null]) {
    assert.equal(read('placeBets', { ...leanBody('placeBets'), txns: odd }).command, undefined);
  }
});

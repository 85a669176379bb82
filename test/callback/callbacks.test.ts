import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { CALLBACKS, ENDPOINTS } from '../../src/callback/callbacks.js';
import { callbackSchemas } from '../../src/callback/openapi.js';
import { LEAN_TXNS, leanBody } from '../support/lean-bodies.js';

test('the callback schemas are valid JSON Schemas', () => {
  const ajv = new Ajv({ strict: true });
  ajv.addVocabulary(['published']);
  ajv.addKeyword({ keyword: 'codePoints', type: 'string', schemaType: 'array' });
  ajv.addKeyword({ keyword: 'foreign', schemaType: 'boolean' });
  assert.equal(ENDPOINTS.length, 11);
  for (const { schema } of Object.values(CALLBACKS)) {
    for (const isStrict of [false, true]) ajv.compile(schema({ txnsMax: 10, isStrict }));
  }
});

test('only callbacks.strict makes the document forbid a bet of 0 without isFeature', () => {
  const forbids = (isStrict: boolean) => /"const":0/.test(JSON.stringify(callbackSchemas({ txnsMax: 10, isStrict })));
  assert.deepEqual([forbids(false), forbids(true)], [false, true]);
});

test('only callbacks.strict makes the document require fields that affect no decision', () => {
  const isValid = (isStrict: boolean, endpoint: string, body: object) => {
    const name = endpoint.charAt(0).toUpperCase() + endpoint.slice(1);
    return new Ajv({ strict: false }).validate(callbackSchemas({ txnsMax: 10, isStrict })[name] as object, body);
  };
  const settled = { ...LEAN_TXNS.settleBets, status: null, turnOver: null, playInfo: null };
  const { timestampMillis: _, ...timeless } = leanBody('checkBalance');
  for (const [endpoint, body] of [
    ['placeBets', leanBody('placeBets')],
    ['settleBets', leanBody('settleBets', [settled])],
    ['checkBalance', timeless],
  ] as const) {
    assert.deepEqual([isValid(false, endpoint, body), isValid(true, endpoint, body)], [true, false], endpoint);
  }
  const voided = { ...LEAN_TXNS.voidSettled, status: null };
  assert.equal(isValid(false, 'voidSettled', leanBody('voidSettled', [voided])), false);
});

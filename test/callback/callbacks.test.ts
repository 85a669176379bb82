import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { CALLBACKS, ENDPOINTS } from '../../src/callback/callbacks.js';
import { callbackSchemas } from '../../src/callback/openapi.js';

test('the schemas of the callbacks are JSON Schemas', () => {
  const ajv = new Ajv({ strict: true });
  ajv.addVocabulary(['published']);
  ajv.addKeyword({ keyword: 'codePoints', type: 'string', schemaType: 'array' });
  ajv.addKeyword({ keyword: 'foreign', schemaType: 'boolean' });
  assert.equal(ENDPOINTS.length, 11);
  for (const { schema } of Object.values(CALLBACKS)) {
    for (const isStrict of [false, true]) ajv.compile(schema({ txnsMax: 10, isStrict }));
  }
});

test('only with callbacks.strict the document forbids a bet of 0 that is no feature', () => {
  const forbids = (isStrict: boolean) => /"const":0/.test(JSON.stringify(callbackSchemas({ txnsMax: 10, isStrict })));
  assert.deepEqual([forbids(false), forbids(true)], [false, true]);
});

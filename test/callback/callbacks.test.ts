import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { CALLBACKS, ENDPOINTS } from '../../src/callback/callbacks.js';

test('the schemas of the callbacks are JSON Schemas', () => {
  const ajv = new Ajv({ strict: true });
  ajv.addVocabulary(['published']);
  ajv.addKeyword({ keyword: 'codePoints', type: 'string', schemaType: 'array' });
  ajv.addKeyword({ keyword: 'foreign', schemaType: 'boolean' });
  assert.equal(ENDPOINTS.length, 11);
  for (const { schema } of Object.values(CALLBACKS)) ajv.compile(schema(10));
});

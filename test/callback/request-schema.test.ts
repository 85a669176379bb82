import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { requestSchemas } from '../../src/callback/request-schema.js';

test('the schemas of the requests are JSON Schemas', () => {
  const ajv = new Ajv({ strict: true });
  ajv.addKeyword({ keyword: 'codePoints', type: 'string', schemaType: 'array' });
  const schemas = Object.values(requestSchemas(10));
  assert.equal(schemas.length, 6);
  for (const schema of schemas) ajv.compile(schema);
});

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Ajv } from 'ajv';
import { asyncapiDocument } from '../../src/admin/asyncapi.js';
import { FEED_EVENT_TYPES } from '../../src/feed/event.js';
import { assertSameLines } from '../support/assert-same-lines.js';
import { ROOT } from '../tidy/pages.js';

/** `REWRITE=1` writes this file. */
const PUBLISHED = join(ROOT, 'docs/asyncapi.json');
const FROZEN = join(ROOT, 'test/feed/frozen-events.jsonl');

const text = `${JSON.stringify(asyncapiDocument(), null, 2)}\n`;

describe('the AsyncAPI document', () => {
  test('docs/asyncapi.json is what a walletd serves', () => {
    if (process.env.REWRITE === '1') writeFileSync(PUBLISHED, text);
    else assertSameLines(text, readFileSync(PUBLISHED, 'utf8'));
  });

  test('a linter finds it valid', async () => {
    const { createConfig, lintFromString } = await import('@redocly/openapi-core');
    const config = await createConfig({ rules: { struct: 'error', 'no-unresolved-refs': 'error' } });
    const lint = async (source: string) => {
      const problems = await lintFromString({ source, absoluteRef: 'asyncapi.json', config });
      return problems.map(({ ruleId, message }) => `${ruleId}: ${message}`);
    };
    assert.deepEqual(await lint(text), []);
    assert.notDeepEqual(await lint(text.replace('"action": "send"', '"action": "sends"')), []);
  });

  test('each published event is a valid message of its type only', () => {
    const ajv = new Ajv({ strict: false, formats: { 'date-time': true } });
    ajv.addSchema(JSON.parse(text), 'document');
    const validates = (key: string) => ajv.compile({ $ref: `document#/components/messages/${key}/payload` });
    const messages = new Map(FEED_EVENT_TYPES.map((type) => [type as string, validates(type.replace('walletd.', ''))]));
    const seen = new Set<string>();
    for (const line of readFileSync(FROZEN, 'utf8').trimEnd().split('\n')) {
      const event = JSON.parse(line) as { type: string };
      const valid = [...messages].filter(([, isValid]) => isValid(event)).map(([type]) => type);
      assert.deepEqual(valid, [event.type]);
      seen.add(event.type);
    }
    assert.equal(seen.size, FEED_EVENT_TYPES.length);
  });
});

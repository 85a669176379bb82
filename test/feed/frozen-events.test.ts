import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { asPublished } from '../../src/base/json-schema.js';
import { FEED_EVENT_TYPES, feedEventSchema } from '../../src/feed/event.js';
import { feedEventsOf, itemCount } from '../../src/feed/events-of.js';
import type { Entry } from '../../src/ports/wal.js';
import { assertSameLines } from '../support/assert-same-lines.js';
import { everyEvent } from './every-change.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const FROZEN = join(ROOT, 'test/feed/frozen-events.jsonl');
const SCHEMA = join(ROOT, 'docs/feed-event.schema.json');

const entry: Entry = {
  shard: 3,
  lsn: { epoch: 2, sequence: 1841 },
  nonce: '0'.repeat(16),
  head: { lsn: { epoch: 2, sequence: 1841 }, nonce: '0'.repeat(16), checksum: 1 },
  previousLsn: { epoch: 2, sequence: 1840 },
  previousChecksum: 1,
  owner: undefined,
  timeMs: 1_700_000_000_123,
  events: everyEvent,
};
const placed = feedEventsOf(entry, {
  storeId: '5b0c4d2e-8a41-4f6b-9c37-d1e2f3a4b5c6',
  currencyOf: () => 'THB',
  scaleOf: (currency) => (currency === 'JPY' ? 0 : 4),
});
const events = placed.map(({ event }) => event);

describe('the events of a log entry', () => {
  test('an event of each kind equals the published one', () => {
    const text = events.map((event) => `${JSON.stringify(event)}\n`).join('');
    if (process.env.REWRITE === '1') writeFileSync(FROZEN, text);
    else assertSameLines(text, readFileSync(FROZEN, 'utf8'));
  });

  test('every published type has an event', () => {
    assert.deepEqual([...new Set(events.map(({ type }) => type))].sort(), [...FEED_EVENT_TYPES].sort());
  });

  test('the published schema accepts every event', () => {
    const schema = `${JSON.stringify(published(), null, 2)}\n`;
    if (process.env.REWRITE === '1') writeFileSync(SCHEMA, schema);
    else assertSameLines(schema, readFileSync(SCHEMA, 'utf8'));
    const ajv = new Ajv({ formats: { 'date-time': true }, allowUnionTypes: true });
    const validate = ajv.compile(feedEventSchema);
    for (const event of events) assert.ok(validate(event), JSON.stringify([event, validate.errors]));
    assert.ok(!validate({ ...events[0], data: { ...events[0]?.data, amount: 10.5 } }));
  });

  test('the frozen events are valid by the schema of today', () => {
    const validate = new Ajv({ formats: { 'date-time': true }, allowUnionTypes: true }).compile(feedEventSchema);
    for (const line of readFileSync(FROZEN, 'utf8').trimEnd().split('\n')) assert.ok(validate(JSON.parse(line)), line);
  });

  test('the id counts every item of the entry, also those without a public event', () => {
    const total = itemCount(entry);
    assert.equal(total, everyEvent.length - 1 + 25);
    assert.ok(placed.every(({ index, event }) => event.id === `3-2-1841-${index}` && index < total));
    assert.ok(events.length < total);
    assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
  });

  test('each change of a callback continues from the balance before it', () => {
    const bets = events.filter(({ data }) => data.requestId !== null);
    let before: string | null = '100';
    for (const { data } of bets) {
      assert.equal(data.balanceBefore, before);
      before = data.balanceAfter;
    }
    assert.equal(before, '101.2345');
  });

  test('no event shows an operator, an address, a reason or a session', () => {
    const text = JSON.stringify(events);
    for (const hidden of ['anna', 'ben', '192.0.2', 'a note', 'secret']) assert.ok(!text.includes(hidden), hidden);
  });
});

function published(): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'An event of the walletd feed (CloudEvents 1.0)',
    ...asPublished(feedEventSchema),
  };
}

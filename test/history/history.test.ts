import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { Unpackr } from 'msgpackr';
import { rebuild } from '../../src/log/recovery.js';
import type { EncodedEntry, Entry, Head } from '../../src/ports/wal.js';
import { type EntryCodec, encodeHead, HEADER_LENGTH } from '../../src/store/format/entry-codec.js';
import { ENDPOINT_NUMBER } from '../../src/store/format/event-codec.js';
import { differences, encodeMeta } from '../../src/store/meta.js';
import { shardOf } from '../../src/threads/placement.js';
import type { Change, Event } from '../../src/wallet/event.js';
import type { Wallets } from '../../src/wallet/state/wallets.js';
import { assertSameLines } from '../support/assert-same-lines.js';
import { MemoryWal } from '../support/memory-wal.js';
import { describeWallet } from './describe-wallet.js';
import { CALLBACK_THAT_REMEMBERS, FormatDocument, flagsOf } from './format-document.js';
import { formatStoreFile } from './store-file.js';
import { recoveryDeps, StoreWriter } from './store-writer.js';
import {
  EXPECTED_FILE,
  HISTORY_FOLDER,
  readHistories,
  STORE_FILE,
  type StoredHistory,
  type StoredLog,
} from './stored-history.js';
import { STORIES } from './stories.js';

/*
 * Stores that versions of walletd wrote, which must remain replayable forever. Each folder is written once: REWRITE=1
 * creates the missing folders of STORIES and never changes an existing one. If a test here fails, the code is wrong and
 * not the bytes: players' money depends on logs like these.
 */
if (process.env.REWRITE === '1') {
  for (const [name, tell] of Object.entries(STORIES)) {
    const folder = new URL(`${name}/`, HISTORY_FOLDER);
    if (existsSync(folder)) continue;
    const store = new StoreWriter();
    await tell(store);
    mkdirSync(folder);
    writeFileSync(new URL(STORE_FILE, folder), formatStoreFile(await store.bytes()));
    writeFileSync(new URL(EXPECTED_FILE, folder), describe(store.wallets));
  }
}

/**
 * Histories that today's code reproduces byte for byte. When one of its types gets a new field, a history must be
 * removed from this list.
 */
const WRITTEN_AS_TODAY: readonly string[] = [
  'v1',
  'v1-operators',
  'v1-marks',
  'v1-archive',
  'v1-tips',
  'v1-rollbacks',
  'v1-sessions',
  'v1-rollback-repeats',
  'v1-reward-voids',
  'v1-remembered',
  'v1-archive-marks',
  'v1-approvals',
  'v1-other-stakes',
];

const histories = readHistories();
const logsOfToday = histories.filter(({ name }) => WRITTEN_AS_TODAY.includes(name)).flatMap(({ logs }) => logs);
const events = histories.flatMap(({ logs }) => logs.flatMap(eventsOf));
const callbacks = events.filter((event) => event.type === 'callback-applied');
const changes = callbacks.flatMap((event) => event.changes);

// If src/wallet/event.ts gets a new type, this file does not compile until the type is listed here, and a test fails
// until a story contains it.
const EVENT_TYPES = {
  'player-created': true,
  'player-imported': true,
  deposited: true,
  withdrawn: true,
  corrected: true,
  'player-blocked': true,
  'player-unblocked': true,
  'rounds-forgotten': true,
  'rounds-archived': true,
  'rounds-restored': true,
  'session-set': true,
  'session-ended': true,
  'money-requested': true,
  'request-closed': true,
  'callback-applied': true,
} satisfies Record<Event['type'], true>;

const CHANGE_TYPES = {
  'bet-placed': true,
  'bet-confirmed': true,
  'bet-confirmed-anew': true,
  'bet-settled': true,
  'single-state-settled': true,
  'round-settled': true,
  'bet-adjusted': true,
  'bet-voided': true,
  'round-voided': true,
  'bet-cancelled': true,
  'round-cancelled': true,
  'round-marked': true,
  'cancel-remembered': true,
  'tip-credited': true,
  'bet-rolled-back': true,
  'round-rolled-back': true,
  'single-state-resettled': true,
  'rollback-repeated': true,
  'tip-placed': true,
  'tip-cancelled': true,
  'reward-credited': true,
  'reward-voided': true,
  'balance-debited': true,
  'balance-credited': true,
  'message-remembered': true,
} satisfies Record<Change['type'], true>;

test('every story has a folder, and every folder has a story', () => {
  const names = histories.map(({ name }) => name);
  assert.deepEqual(names, Object.keys(STORIES).sort(), 'REWRITE=1 writes the folder of a new story');
});

for (const history of histories) {
  const { name, meta, expected, logs } = history;

  test(`${name}: the logs rebuild the original wallets`, async () => {
    assertSameLines(describe(await replayed(history)), expected);
  });

  test(`${name}: every player is in the shard that the meta record determines`, () => {
    assert.deepEqual(differences(meta, meta), [], 'the hash that placed them is still known');
    for (const log of logs) {
      for (const { username } of eventsOf(log)) assert.equal(shardOf(username, meta.shards), log.shard, username);
    }
  });
}

for (const { name, bytes, meta, codec, logs } of histories.filter((one) => WRITTEN_AS_TODAY.includes(one.name))) {
  test(`${name}: decoding and encoding an entry returns the same bytes`, () => {
    assert.deepEqual(encodeMeta(meta), bytes.meta);
    const heads = logs.map(({ head }) => encodeHead(head));
    assert.deepEqual(heads, bytes.heads);
    for (const { genesis, entries } of logs) {
      let previous = genesis;
      for (const { bytes, entry } of entries) {
        assert.equal(encode(codec, entry, previous).toString('hex'), bytes.toString('hex'));
        previous = entry.head;
      }
    }
  });
}

test('the histories contain every event, change and endpoint, and several epochs', () => {
  assert.deepEqual(distinct(events.map(({ type }) => type)), distinct(Object.keys(EVENT_TYPES)));
  assert.deepEqual(distinct(changes.map(({ type }) => type)), distinct(Object.keys(CHANGE_TYPES)));
  assert.deepEqual(distinct(callbacks.map(({ endpoint }) => endpoint)), distinct(Object.keys(ENDPOINT_NUMBER)));
  for (const { head, shard } of logsOfToday) assert.ok(head.lsn.epoch > 1, `shard ${shard}`);
});

test('the histories contain every flag of every change, set and unset', () => {
  const flags = changes.flatMap((change) => flagsOf(change).map(([flag, isSet]) => ({ of: change.type, flag, isSet })));
  assert.ok(flags.length > 0);
  for (const { of, flag, isSet } of flags) {
    const opposite = flags.some((other) => other.of === of && other.flag === flag && other.isSet !== isSet);
    assert.ok(opposite, `${flag} of ${of} is always ${isSet}`);
  }
});

test('the histories contain every optional field, present and missing', () => {
  for (const [type, { fields }] of new FormatDocument().events) {
    for (const { name } of [...fields.values()].filter(({ isOptional }) => isOptional)) {
      const values = events.filter((event) => event.type === type).map((event) => Reflect.get(event, name));
      assert.ok(values.includes(undefined), `${name} of ${type} is always there`);
      assert.ok(
        values.some((value) => value !== undefined),
        `${name} of ${type} is never there`,
      );
    }
  }
});

test('FORMAT.md describes every number, position and flag in the stored bytes', () => {
  const document = new FormatDocument();
  const numbered = Object.fromEntries(document.endpoints.map((endpoint, number) => [endpoint, number]));
  assert.deepEqual(numbered, ENDPOINT_NUMBER);
  assert.deepEqual(
    distinct([...document.events.keys()]),
    distinct([...Object.keys(EVENT_TYPES), CALLBACK_THAT_REMEMBERS]),
  );
  assert.deepEqual(distinct([...document.changes.keys()]), distinct(Object.keys(CHANGE_TYPES)));
  const unpackr = new Unpackr({ useRecords: false });
  for (const { bytes, entry } of logsOfToday.flatMap(({ entries }) => entries)) {
    const tuples = unpackr.unpackMultiple(bytes.subarray(HEADER_LENGTH)) as unknown[][];
    for (const [index, event] of entry.events.entries()) {
      document.checkEvent(tuples[index] as unknown[], event, entry.timeMs);
    }
  }
});

test('the example in FORMAT.md is the first entry of v1', () => {
  const v1 = histories.find(({ name }) => name === 'v1');
  assert.equal(new FormatDocument().example, v1?.bytes.entries[0]?.toString('hex'));
});

/** The state of all wallets by shard, with players in order of creation. */
function describe(shards: readonly Wallets[]): string {
  const lines = shards.flatMap((wallets, shard) => {
    return [...wallets].flatMap((wallet) => [`shard ${shard}`, ...describeWallet(wallet), '']);
  });
  return lines.join('\n');
}

async function replayed({ meta, codec, logs }: StoredHistory): Promise<Wallets[]> {
  const wal = new MemoryWal(meta.storeId, meta.shards);
  const deps = recoveryDeps(wal, codec, { host: 'test', pid: 1, startedMs: 0 });
  const shards: Wallets[] = [];
  for (const { shard, genesis, head, entries } of logs) {
    const sealed = entries.map(({ bytes, entry }) => ({ head: entry.head, bytes }));
    wal.intrude(shard, { shard, expected: genesis, entries: sealed });
    const newest = sealed.at(-1) as EncodedEntry;
    assert.deepEqual(newest.head, head);
    shards.push((await rebuild({ shard, genesis, found: genesis, target: newest.head }, deps)).wallets);
  }
  return shards;
}

function encode(codec: EntryCodec, entry: Entry, previous: Head): Buffer {
  const { shard, lsn, nonce, timeMs, owner, events } = entry;
  if (owner !== undefined) return codec.encodeFence({ shard, lsn, nonce, previous, timeMs }, owner).bytes;
  const batch = codec.beginBatch(timeMs);
  for (const event of events) batch.add(event);
  return batch.seal({ shard, lsn, nonce, previous }).bytes;
}

function eventsOf({ entries }: StoredLog): Event[] {
  return entries.flatMap(({ entry }) => entry.events);
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}

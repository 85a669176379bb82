import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type VerifyReport, verify } from '../../../src/tools/verify/verify.js';
import { type AuditHead, auditAfter, emptyAudit } from '../../../src/wallet/audit-chain.js';
import type { Command } from '../../../src/wallet/command.js';
import type { Event } from '../../../src/wallet/event.js';
import { commands } from '../../support/domain.js';
import { WrittenStore } from '../written-store.js';

const BY = { name: 'anna', address: '10.0.0.7' };
const deposit = (id: string, amount: number): Command =>
  ({ type: 'deposit', id, username: 'ann', amount, by: BY }) as Command;

/** Creates a store with four operator actions and a bet in between. The second action deposits `amount`. */
async function storyOf(amount = 500, snapshots = false): Promise<WrittenStore> {
  const store = new WrittenStore();
  await store.takeOver();
  await store.fund('ann', 1000);
  await store.run(deposit('d1', amount));
  if (snapshots) await store.snapshot();
  await store.run(commands.place([{ id: 't' }]));
  await store.run(deposit('d2', 70), { type: 'block-player', username: 'ann', by: BY } as Command);
  return store;
}

async function look(store: WrittenStore, noted?: AuditHead): Promise<VerifyReport> {
  const heads = noted === undefined ? undefined : new Map([[0, noted]]);
  return await verify(store.reader, { isDeep: true, server: undefined, noted: heads });
}

const headOf = (report: VerifyReport) => report.shards[0]?.audit as AuditHead;
const messages = ({ findings }: VerifyReport) => findings.listed.map(({ type, message }) => `${type}: ${message}`);

test('the audit chain counts operator actions, but not callbacks', async () => {
  const head = headOf(await look(await storyOf()));
  assert.deepEqual([head.since, head.count], ['0-0', 4]);
  assert.match(head.hash, /^[0-9a-f]{64}$/);
});

test('a log rewritten with a different amount contradicts the recorded head', async () => {
  const noted = headOf(await look(await storyOf(500)));
  assert.deepEqual(messages(await look(await storyOf(500), noted)), []);
  const changed = await look(await storyOf(400), noted);
  assert.deepEqual(messages(changed), [
    `audit: shard 0: the first 4 operations differ from the noted ones: 4 operations (${noted.hash.slice(0, 16)}…)`,
  ]);
});

test('a head recorded earlier is found during the replay', async () => {
  const store = await storyOf();
  const noted = headOf(await look(store));
  await store.run(deposit('d3', 5));
  const later = await look(store, noted);
  assert.deepEqual(messages(later), []);
  assert.equal(headOf(later).count, 5);
});

test('operator actions missing at the end contradict the recorded head', async () => {
  const store = await storyOf();
  const noted = { ...headOf(await look(store)), count: 6 };
  assert.match(
    messages(await look(store, noted)).join(),
    /audit: shard 0: 6 operations .* were noted, but this store has 4/,
  );
});

test("a snapshot whose audit chain differs from the log's is found", async () => {
  const store = await storyOf(500, true);
  const [stored] = await store.wal.snapshots(0);
  const manifest = store.snapshotFormat.openManifest(stored?.manifest as Buffer);
  assert.deepEqual(messages(await look(store)), []);
  const audit = { since: '0-0', count: 2, hash: 'ab'.repeat(32) };
  const tallies = { sinceMs: 0, isCut: false, days: [], products: [], audit };
  store.wal.snapshotsOf(0).replaceManifest(manifest.id, store.snapshotFormat.sealManifest({ ...manifest, tallies }));
  assert.match(
    messages(await look(store)).join(),
    /audit: shard 0: snapshot \w+ has 2 operations \(abab.*but the log yields 2 operations/,
  );
});

test("in a trimmed log, the chain begins at an older walletd's snapshot", async () => {
  const store = await storyOf(500, true);
  const whole = headOf(await look(store));
  const [stored] = await store.wal.snapshots(0);
  const manifest = store.snapshotFormat.openManifest(stored?.manifest as Buffer);
  await store.trim(manifest.start.lsn);
  const head = headOf(await look(store));
  assert.deepEqual([head.since, head.count], [`1-${manifest.start.lsn.sequence}`, 2]);
  assert.match(messages(await look(store, whole)).join(), /the noted audit chain begins at 0-0/);
});

test('storing an event does not change its link', async () => {
  const store = new WrittenStore();
  const signed = { username: 'ann', by: BY, timeMs: 5 };
  const events: Event[] = [
    { ...signed, version: 1, type: 'player-created', currency: 'THB' },
    { ...signed, version: 2, type: 'deposited', id: 'd', amount: 5, before: 0, after: 5, approvedBy: BY },
    { ...signed, version: 3, type: 'corrected', id: 'c', amount: -1, before: 5, after: 4, reason: 'ÿ "x"' },
    {
      ...signed,
      version: 4,
      type: 'money-requested',
      id: 'r',
      amount: 9,
      expiresMs: 77,
      allowNegativeBalance: false,
      reason: '',
    },
    { ...signed, version: 5, type: 'request-closed', id: 'r', outcome: 'refused' },
    { ...signed, version: 6, type: 'player-blocked' },
  ];
  const batch = store.format.beginBatch(5);
  for (const event of events) batch.add(event);
  const previous = store.reader.genesis(0);
  const sealed = batch.seal({ shard: 0, lsn: { epoch: 1, sequence: 1 }, nonce: store.newId(), previous });
  const read = store.format.decode(sealed.bytes);
  const link = (all: readonly Event[]) => all.reduce(auditAfter, emptyAudit('0-0'));
  assert.equal(link(read.events).count, 6);
  assert.deepEqual(link(read.events), link(events));
});

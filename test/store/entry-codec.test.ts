import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { rulesOf } from '../../src/node/settings/rules.js';
import { decodeHead, EntryCodec, encodeHead, genesisHead } from '../../src/store/format/entry-codec.js';
import { FormatError } from '../../src/store/format/format-error.js';
import { FormatGate } from '../../src/store/format/format-gate.js';
import type { Event } from '../../src/wallet/event.js';
import { commands, Domain, throughLog } from '../support/domain.js';
import { settingsWith } from '../support/settings.js';

const STORE_ID = '0b9c6a54-3d0e-4a53-9d1f-5f2a7c8e9d10';
const codec = new EntryCodec(STORE_ID);
const owner = { host: 'här', pid: 7, startedMs: 1_700_000_000_000 };

const FENCE = {
  shard: 0,
  lsn: { epoch: 2, sequence: 8 },
  nonce: 'ffffffffffffffff',
  previous: genesisHead(STORE_ID, 0),
  timeMs: 5,
};

function entryOf(events: readonly Event[]): Buffer {
  const batch = codec.beginBatch(1_700_000_000_000);
  for (const event of events) batch.add(event);
  const previous = genesisHead(STORE_ID, 3);
  return batch.seal({ shard: 3, lsn: { epoch: 9, sequence: 2 ** 40 }, nonce: '00112233445566ff', previous }).bytes;
}

const created: Event = {
  type: 'player-created',
  username: 'ann',
  version: 1,
  timeMs: 1_700_000_000_005,
  currency: 'THB',
  by: { name: 'anna', address: '10.1.2.3' },
};

test('retained entries keep little unrelated memory alive', () => {
  const kept: Buffer[] = [];
  for (let i = 0; i < 1000; i++) {
    kept.push(entryOf(Array.from({ length: 1 + (i % 20) }, () => created)));
    // Simulates the buffers of callbacks, answers and store calls.
    for (let other = 0; other < 5; other++) Buffer.allocUnsafe(500).fill(0);
  }
  const bytes = kept.reduce((sum, { length }) => sum + length, 0);
  const memory = [...new Set(kept.map(({ buffer }) => buffer))].reduce((sum, { byteLength }) => sum + byteLength, 0);
  assert.ok(memory < bytes * 1.2 + 256 * 1024, `${memory} bytes for ${bytes}`);
});

test('encoding and decoding an entry returns the same entry', () => {
  const entry = codec.decode(entryOf([created]));
  assert.equal(entry.shard, 3);
  assert.deepEqual(entry.lsn, { epoch: 9, sequence: 2 ** 40 });
  assert.equal(entry.nonce, '00112233445566ff');
  assert.deepEqual(entry.previousLsn, { epoch: 0, sequence: 0 });
  assert.equal(entry.previousChecksum, genesisHead(STORE_ID, 3).checksum);
  assert.equal(entry.timeMs, 1_700_000_000_000);
  assert.equal(entry.owner, undefined);
  assert.deepEqual(entry.events, [created]);
});

test('a fence names its owner and has no events', () => {
  const entry = codec.decode(codec.encodeFence(FENCE, owner).bytes);
  assert.deepEqual(entry.owner, owner);
  assert.deepEqual(entry.events, []);
});

test('a fence after a loss has its own kind, which older readers refuse', () => {
  const { bytes } = codec.encodeFence(FENCE, { ...owner, afterLoss: true });
  assert.equal(bytes.readUInt8(1), 3);
  assert.deepEqual(codec.decode(bytes).owner, { ...owner, afterLoss: true });
  const accepting = codec.encodeFence(FENCE, { ...owner, acceptsLoss: true });
  assert.deepEqual(codec.decode(accepting.bytes).owner, { ...owner, acceptsLoss: true });
});

test('a fence can accept the loss of archived rounds, alone or with another loss', () => {
  for (const accepts of [{ acceptsArchiveLoss: true }, { acceptsLoss: true, acceptsArchiveLoss: true }] as const) {
    const { bytes } = codec.encodeFence(FENCE, { ...owner, ...accepts });
    assert.deepEqual(codec.decode(bytes).owner, { ...owner, ...accepts });
  }
});

test('an entry of an unknown kind is attributed to a newer walletd', () => {
  const bytes = Buffer.concat([entryOf([created]).subarray(0, 72), Buffer.from([0xdc, 0x00])]);
  bytes.writeUInt8(4, 1);
  bytes.writeUInt32BE(crc32(bytes.subarray(72), crc32(bytes.subarray(0, 68))), 68);
  assert.throws(
    () => codec.decode(bytes),
    (error: FormatError) => error.isUnknown && /was written by a newer walletd \(kind 4\)/.test(error.message),
  );
});

test('a header is decoded and verified like the whole entry', () => {
  const fences = [owner, { ...owner, afterLoss: true as const }].map((one) => codec.encodeFence(FENCE, one).bytes);
  for (const bytes of [entryOf([created]), ...fences]) {
    const { events: _, ...header } = codec.decode(bytes);
    assert.deepEqual(codec.decodeHeader(bytes), header);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
    assert.throws(() => codec.decodeHeader(bytes), /is damaged: wrong checksum/);
  }
});

test('encoding and decoding a head returns the same head', () => {
  const head = {
    lsn: { epoch: 4_000_000_000, sequence: 2 ** 45 + 1 },
    nonce: '0123456789abcdef',
    checksum: 0xdeadbeef,
  };
  assert.deepEqual(decodeHead(encodeHead(head)), head);
});

test('before the gate opens, only events that an older node can read are written', () => {
  const gate = new FormatGate(1);
  const gated = new EntryCodec(STORE_ID, gate);
  // Decide with the rules of a thread whose format gate is closed.
  const domain = new Domain({ ...rulesOf(settingsWith()), keepsRequests: false, remembersMessages: false });
  domain.fund('ann', 100);
  domain.run(commands.place([{ id: 'b' }]));
  domain.run(commands.cancel([{ id: 'b' }]));
  const former = [...domain.events];
  assert.ok(former.every((event) => gated.canWrite(event)));
  for (const command of [
    commands.placeTip([{ id: 't' }]),
    commands.tip([{ id: 't' }]),
    commands.reward([{ id: 'r' }]),
    commands.void([{ id: 'r' }]),
    commands.movement([{ id: 'm' }]),
    commands.movement([{ id: 'm', status: 'CREDIT' }]),
  ]) {
    const { event } = domain.run(command);
    assert.equal(event && gated.canWrite(event), false, command.type);
  }
  gate.open(2);
  assert.ok(domain.events.every((event) => gated.canWrite(event)));
  gate.open(1);
  assert.ok(
    domain.events.every((event) => gated.canWrite(event)),
    'it never closes again',
  );
});

test('reading newer events allows the thread to write them', () => {
  const gate = new FormatGate(1);
  const gated = new EntryCodec(STORE_ID, gate);
  const domain = new Domain({ ...rulesOf(settingsWith()), remembersMessages: false });
  domain.fund('ann', 100);
  gated.decode(entryOf(domain.events));
  assert.equal(gate.allows(2), false, 'there is nothing newer in it');
  const { event } = domain.run(commands.placeTip([{ id: 't' }]));
  assert.ok(event);
  gated.decode(entryOf([event]));
  assert.deepEqual([gate.allows(2), gate.allows(3)], [true, false]);
  const remembering = new Domain();
  remembering.fund('ann', 100);
  remembering.run(commands.place([{ id: 'b' }]));
  gated.decode(entryOf(remembering.events));
  assert.equal(gate.allows(3), true);
});

test('a single flipped bit anywhere is detected', () => {
  const bytes = entryOf([created]);
  for (let at = 0; at < bytes.length; at++) {
    const damaged = Buffer.from(bytes);
    damaged.writeUInt8(damaged.readUInt8(at) ^ 0b100, at);
    assert.throws(() => codec.decode(damaged), FormatError, `byte ${at}`);
  }
});

test('truncated, foreign and newer entries are refused, each for its own reason', () => {
  const bytes = entryOf([created]);
  assert.throws(() => codec.decode(bytes.subarray(0, 50)), /too short/);
  assert.throws(() => codec.decode(bytes.subarray(0, bytes.length - 1)), /checksum/);
  const other = new EntryCodec('0b9c6a54-3d0e-4a53-9d1f-5f2a7c8e9d11');
  assert.throws(() => other.decode(bytes), /a store other than/);
  const newer = Buffer.from(bytes);
  newer.writeUInt8(2, 0);
  assert.throws(() => codec.decode(newer), /is damaged: wrong checksum/, 'it is but this byte');
  newer.writeUInt32BE(crc32(newer.subarray(72), crc32(newer.subarray(0, 68))), 68);
  assert.throws(() => codec.decode(newer), /written by a newer walletd \(format 2\)/);
  assert.throws(
    () => codec.decode(Buffer.alloc(bytes.length)),
    (error: FormatError) => !error.isUnknown && /is damaged/.test(error.message),
    'zeros are damage',
  );
});

test('every kind of change survives the log, with any text and amount', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(text, text, fc.integer({ min: 0, max: 2 ** 33 }), fc.boolean(), (id, roundId, amount, flag) => {
      const domain = new Domain({ ...rulesOf(settingsWith()), tipsUnknown: 'credit' });
      domain.fund('ann', 2 ** 40);
      const { place, settle, adjust, void: voided, cancel, tip, placeTip, reward, movement } = commands;
      const txn = { id, roundId, betAmount: amount, gameCode: id, playInfo: roundId };
      const facts = { skipBalanceUpdate: flag, isFeature: flag, isFeatureBuy: !flag, isEndRound: flag, turnOver: 0.1 };
      domain.run(place([{ ...txn, ...facts, status: 'WAITING' }]));
      domain.run(place([{ ...txn, ...facts, skipBalanceUpdate: false }]));
      domain.run(adjust([{ ...txn, betAmount: amount + 1 }], { id: roundId }));
      domain.run(settle([{ ...txn, ...facts, payoutAmount: amount }]));
      domain.run(voided([txn]));
      domain.run(settle([{ ...txn, ...facts, id: `${id}-single`, isSingleState: true, payoutAmount: amount }]));
      domain.run(place([{ ...txn, id: `${id}2` }]));
      domain.run(settle([{ ...txn, id: 's', byRound: true, payoutAmount: amount }]));
      domain.run(place([{ ...txn, id: `${id}3` }]));
      domain.run(settle([{ ...txn, id: 's2', byRound: true, payoutAmount: amount }]));
      domain.run(voided([{ ...txn, id: `${id}2`, payoutAmount: amount }]));
      domain.run(voided([{ ...txn, id: 'v', byRound: true }]));
      domain.run(place([{ ...txn, id: `${id}4` }]));
      domain.run(cancel([{ ...txn, id: `${id}4`, status: 'REJECT' }]));
      domain.run(place([{ ...txn, id: `${id}5` }]));
      domain.run(cancel([{ ...txn, id: 'c', byRound: true }]));
      domain.run(cancel([{ ...txn, id: 'late' }]));
      domain.run(cancel([{ ...txn, id: 'c', roundId: 'unknown', byRound: true }]));
      domain.run(tip([{ ...txn, id: 'tip' }]));
      domain.run(placeTip([{ ...txn, id: `${id}6`, skipBalanceUpdate: flag }]));
      domain.run(placeTip([{ ...txn, id: `${id}6` }]));
      domain.run(tip([{ ...txn, id: `${id}6` }]));
      domain.run(reward([{ ...txn, payoutAmount: amount, gameCode: '', playInfo: '' }]));
      domain.run(reward([{ ...txn, id: `${id}7`, payoutAmount: amount }]));
      domain.run(voided([{ ...txn, id: `${id}7`, payoutAmount: amount }]));
      domain.run(movement([{ id, amount }]));
      domain.run(movement([{ id, amount, status: 'CREDIT' }]));
      domain.run({ type: 'deposit', id, username: 'ann', amount: amount + 1 });
      domain.run({ type: 'withdraw', id: `${id}w`, username: 'ann', amount: 1 });
      const by = { name: id, address: '::1' };
      const correction = { type: 'correct', username: 'ann', reason: id, allowNegativeBalance: true } as const;
      domain.run({ ...correction, id: `${id}c`, amount: -amount - 1 });
      domain.run({ ...correction, id: `${id}d`, amount: amount + 1, by });
      domain.run({ type: 'block-player', username: 'ann', by });
      domain.run({ type: 'unblock-player', username: 'ann' });
      domain.nowMs += 1e10;
      domain.run({ type: 'forget', username: 'ann', beforeMs: domain.nowMs });
      assert.deepEqual(throughLog(domain.events), domain.events);
      assert.equal(
        new Set(domain.events.map((event) => event.type)).size,
        8,
        'the test makes every kind but player-created',
      );
    }),
    { numRuns: 200 },
  );
});

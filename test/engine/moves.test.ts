import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemTimers, type Timers } from '../../src/base/timers.js';
import type { Head } from '../../src/ports/wal.js';
import { EntryCodec } from '../../src/store/format/entry-codec.js';
import { HANDOVER_MS, type MoveResult } from '../../src/threads/shards.js';
import { commands } from '../support/domain.js';
import type { MemoryWal } from '../support/memory-wal.js';
import { peek, TestHost, turns } from '../support/test-host.js';
import { until } from '../support/until.js';

const { place } = commands;

/** Starts a node that has no shards. */
async function joined(wal?: MemoryWal, timers = systemTimers): Promise<TestHost> {
  const node = new TestHost({ isShared: true, timers, ...(wal && { wal }) });
  await node.host.start([]);
  return node;
}

/** Starts two nodes on one store. The first one serves shard 0 with player ann, whose balance is 1000. */
async function pair(): Promise<[TestHost, TestHost]> {
  const first = await joined();
  await took(first);
  await first.fund('ann', 1000);
  return [first, await joined(first.wal)];
}

async function took(node: TestHost, over?: Extract<MoveResult, { type: 'still' }>): Promise<void> {
  const result = await node.take({ over: over?.head });
  assert.equal(result.type, 'taken', JSON.stringify(result));
}

async function paused(node: TestHost): Promise<Extract<MoveResult, { type: 'still' }>> {
  const result = await node.host.move({ type: 'pause', shard: 0 });
  assert.ok(result.type === 'still', JSON.stringify(result));
  return result;
}

const stateOf = (node: TestHost) => node.host.status()[0]?.state;
const failure = (name: string) => ({ type: 'failed', failure: name });

test('a remote or standby shard answers that the request was certainly not executed', async () => {
  const [, other] = await pair();
  assert.deepEqual(await other.execute(place([{ id: 'a' }])), failure('moved'));
  await other.host.move({ type: 'follow', shard: 0 });
  assert.equal(stateOf(other), 'following');
  assert.deepEqual(await other.execute(place([{ id: 'a' }])), failure('moved'));
  assert.deepEqual(await other.ask({ type: 'read-player', username: 'ann' }), failure('moved'));
});

test('a standby keeps up with the log and serves all acknowledged bets', async () => {
  const [owner, other] = await pair();
  await other.host.move({ type: 'follow', shard: 0 });
  for (let i = 0; i < 200; i++) await owner.execute(place([{ id: `t${i}`, betAmount: 1 }]));
  await until('it has all', async () => other.host.status()[0]?.head?.lsn.sequence === 202);
  await took(other);
  assert.equal(await other.balance('ann'), 800);
  assert.deepEqual(await owner.execute(place([{ id: 'late' }])), failure('unsure'));
  await until('it was acknowledged', async () => stateOf(owner) === 'away');
  assert.equal(owner.fenced.length, 1);
  assert.deepEqual(await owner.execute(place([{ id: 'late' }])), failure('moved'));
});

test('a standby pauses between reads unless it must serve soon', async () => {
  const [owner] = await pair();
  for (let i = 0; i < 20; i++) await owner.execute(place([{ id: `t${i}`, betAmount: 1 }]));
  const rests: (() => void)[] = [];
  const timers: Timers = {
    ...systemTimers,
    after: (_ms, run) => {
      rests.push(run);
      return () => {};
    },
  };
  const other = await joined(owner.wal, timers);
  // Advance the clock at every read, so that every read ends a slice.
  other.clock.monotonicMs = () => (other.clock.nowMs += 3);
  const following = other.host.move({ type: 'follow', shard: 0 });
  for (let i = 0; i < 5; i++) {
    await until('it rests', async () => rests.length === 1);
    assert.equal(stateOf(other), 'away');
    rests.pop()?.();
  }
  await until('it rests', async () => rests.length === 1);
  const bringing = other.host.move({ type: 'bring', shard: 0 });
  rests.pop()?.();
  assert.equal((await following).type, 'done');
  assert.equal((await bringing).type, 'done');
  assert.equal(rests.length, 0);
  await took(other);
  assert.equal(await other.balance('ann'), 980);
  const third = await joined(owner.wal, timers);
  third.clock.monotonicMs = () => (third.clock.nowMs += 3);
  await took(third);
  assert.equal(rests.length, 0);
});

test('a clean handover acknowledges decided bets and refuses waiting ones', async () => {
  const [first, second] = await pair();
  await second.host.move({ type: 'follow', shard: 0 });
  first.wal.hold();
  const flying = first.execute(place([{ id: 'flies' }]));
  await turns(5);
  const forming = first.execute(place([{ id: 'forms' }]));
  const still = paused(first);
  assert.deepEqual(await first.execute(place([{ id: 'comes' }])), failure('moved'));
  assert.equal(await peek(still), undefined, 'what was decided is not acknowledged yet');
  first.wal.release();
  const at = await still;
  assert.equal((await flying).type, 'accepted');
  assert.equal((await forming).type, 'accepted');
  await took(second, at);
  await first.host.move({ type: 'release', shard: 0 });
  assert.equal(stateOf(first), 'following');
  assert.equal(await second.balance('ann'), 980);
  const back = await paused(second);
  await took(first, back);
  assert.equal(await first.balance('ann'), 980);
});

test('a draining owner resumes after a timeout, and a late fence conflicts', async () => {
  const [first, second] = await pair();
  const at = await paused(first);
  await until('it goes on', async () => stateOf(first) === 'serving');
  assert.equal((await first.execute(place([{ id: 'a' }]))).type, 'accepted');
  const late = await second.take({ over: at.head });
  assert.equal(late.type, 'conflict');
  assert.equal(await first.balance('ann'), 990);
});

test('a pause that a fence has ended does not end a later pause', async () => {
  const resumes = new Set<() => void>();
  const timers: Timers = {
    ...systemTimers,
    after: (ms, run) => {
      if (ms !== HANDOVER_MS) return systemTimers.after(ms, run);
      resumes.add(run);
      return () => void resumes.delete(run);
    },
  };
  const node = await joined(undefined, timers);
  await took(node);
  await node.fund('ann', 1000);
  node.wal.hold();
  const pending = node.execute(place([{ id: 'a' }]));
  await turns(5);
  const pausing = node.host.move({ type: 'pause', shard: 0 });
  const previous = await node.wal.head(0);
  const lsn = { epoch: previous.lsn.epoch + 1, sequence: previous.lsn.sequence + 1 };
  const header = { shard: 0, lsn, nonce: 'f'.repeat(16), previous, timeMs: 1 };
  const fence = new EntryCodec(node.wal.storeId).encodeFence(header, { host: 'other', pid: 1, startedMs: 0 });
  node.wal.intrude(0, { shard: 0, expected: previous, entries: [fence] });
  node.wal.release();
  assert.deepEqual(await pending, failure('unsure'));
  assert.equal((await pausing).type, 'failed');
  await until('it is unloaded', async () => stateOf(node) === 'away');
  await took(node);
  await paused(node);
  assert.equal(resumes.size, 1);
});

test('a fenced owner releases no more replies after it resumes', async () => {
  const [first, second] = await pair();
  const at = await paused(first);
  await took(second, at);
  await first.host.move({ type: 'resume', shard: 0 });
  assert.deepEqual(await first.execute(place([{ id: 'a' }])), failure('unsure'));
  assert.equal(await second.balance('ann'), 1000);
});

test('draining ends even if the pending append never completes', async () => {
  const [first] = await pair();
  first.wal.faultMode = 'not-written';
  const flying = first.execute(place([{ id: 'a' }]));
  const result = await first.host.move({ type: 'pause', shard: 0 });
  assert.equal(result.type, 'failed');
  assert.equal(stateOf(first), 'serving');
  first.wal.faultMode = 'fine';
  assert.equal((await flying).type, 'accepted');
});

for (const over of ['whatever it ends in', 'the head that is left', 'the head that was acknowledged'] as const) {
  test(`a standby restores lost entries before its fence over ${over}`, async () => {
    const [first, second] = await pair();
    for (let i = 0; i < 5; i++) await first.execute(place([{ id: `t${i}` }]));
    await second.host.move({ type: 'follow', shard: 0 });
    const acknowledged = first.host.status()[0]?.head as Head;
    first.wal.loseTail(0, 4);
    const left = await first.wal.head(0);
    const expected = {
      'whatever it ends in': undefined,
      'the head that is left': left,
      'the head that was acknowledged': acknowledged,
    };
    const taken = await second.take({ over: expected[over], acknowledged });
    assert.equal(taken.type, 'taken', JSON.stringify(taken));
    assert.equal(await second.balance('ann'), 950);
    for (let i = 0; i < 5; i++) {
      const answer = await second.execute(place([{ id: `t${i}` }]));
      assert.ok(answer.type === 'accepted' && answer.isRepeat);
    }
  });
}

test('a fence that is not written in time is never written later', async () => {
  const [first, second] = await pair();
  await second.host.move({ type: 'follow', shard: 0 });
  const { head } = first.host.status()[0] as { readonly head: Head };
  first.wal.faultMode = 'not-written';
  const before = first.wal.calls.length;
  const taking = second.take({ over: head, untilMs: second.clock.nowMs + 1000 });
  await until('it has tried once', async () => first.wal.calls.length > before);
  second.clock.nowMs += 1000;
  first.wal.faultMode = 'fine';
  const late = await taking;
  assert.ok(late.type === 'failed' && !late.isPermanent, JSON.stringify(late));
  assert.deepEqual(await first.wal.head(0), head);
  await took(second);
  assert.equal(await second.balance('ann'), 1000);
});

test('a fence that is confirmed too late is not trusted', async () => {
  const [first, second] = await pair();
  await second.host.move({ type: 'follow', shard: 0 });
  first.wal.hold();
  const before = first.wal.calls.length;
  const taking = second.take({ untilMs: second.clock.nowMs + 1000 });
  await until('it is on its way', async () => first.wal.calls.length > before);
  second.clock.nowMs += 2000;
  first.wal.release();
  const late = await taking;
  assert.ok(late.type === 'failed' && !late.isPermanent, JSON.stringify(late));
  assert.equal(stateOf(second), 'following');
  await took(second);
  assert.equal((await first.wal.head(0)).lsn.epoch, 3);
  assert.equal(await second.balance('ann'), 1000);
});

test('a log that lacks acknowledged entries is not taken over', async () => {
  const [first, second] = await pair();
  for (let i = 0; i < 5; i++) await first.execute(place([{ id: `t${i}` }]));
  const acknowledged = first.host.status()[0]?.head;
  first.wal.loseTail(0, 2);
  const short = await second.take({ acknowledged });
  assert.equal(short.type, 'short');
  assert.equal((await first.execute(place([{ id: 'heals' }]))).type, 'accepted');
  const taken = await second.take({ acknowledged });
  assert.equal(taken.type, 'taken');
  assert.equal(await second.balance('ann'), 940);
});

for (const later of [0, 3]) {
  test(`a log with a replaced acknowledged entry is not taken over (${later} later entries)`, async () => {
    const [first, second] = await pair();
    await first.execute(place([{ id: 'acknowledged' }]));
    const acknowledged = first.host.status()[0]?.head as Head;
    first.wal.loseTail(0, 1);
    const third = await joined(first.wal);
    await took(third);
    for (let i = 0; i < later; i++) await third.execute(place([{ id: `t${i}` }]));
    const found = await first.wal.head(0);
    assert.equal(found.lsn.sequence, acknowledged.lsn.sequence + later);
    assert.deepEqual(await second.take({ acknowledged }), { type: 'short', head: found });
    assert.deepEqual(await first.wal.head(0), found);
  });
}

test('an accepted loss no longer blocks a takeover', async () => {
  const [first, second] = await pair();
  for (let i = 0; i < 5; i++) await first.execute(place([{ id: `t${i}` }]));
  const acknowledged = first.host.status()[0]?.head;
  first.wal.loseTail(0, 2);
  const found = await first.wal.head(0);
  const lsn = { epoch: found.lsn.epoch + 1, sequence: found.lsn.sequence + 1 };
  const header = { shard: 0, lsn, nonce: 'f'.repeat(16), previous: found, timeMs: 0 };
  const owner = { host: 'a person', pid: 1, startedMs: 0, acceptsLoss: true } as const;
  const fence = new EntryCodec(first.wal.storeId).encodeFence(header, owner);
  first.wal.intrude(0, { shard: 0, expected: found, entries: [fence] });
  const taken = await second.take({ acknowledged });
  assert.equal(taken.type, 'taken', JSON.stringify(taken));
  assert.equal(await second.balance('ann'), 970);
});

test('an abandoned shard releases no reply to commands that it had decided', async () => {
  const [first, second] = await pair();
  first.wal.hold();
  const flying = first.execute(place([{ id: 'flies' }]));
  await turns(5);
  const forming = first.execute(place([{ id: 'forms' }]));
  await first.host.move({ type: 'abandon', shard: 0 });
  assert.deepEqual(await flying, failure('unsure'));
  assert.deepEqual(await forming, failure('moved'));
  assert.deepEqual(await first.execute(place([{ id: 'comes' }])), failure('moved'));
  assert.equal(stateOf(first), 'fenced', 'what flies may still arrive');
  first.wal.release();
  await until('it has landed', async () => stateOf(first) === 'away');
  await took(second);
  assert.equal(await second.balance('ann'), 990, 'it had arrived');
});

test('a standby reloads a log that diverged', async () => {
  const [first, second] = await pair();
  for (let i = 0; i < 3; i++) await first.execute(place([{ id: `t${i}` }]));
  await second.host.move({ type: 'follow', shard: 0 });
  first.wal.loseTail(0, 3);
  const third = await joined(first.wal);
  await took(third);
  await until('it was noticed', async () => stateOf(second) === 'away');
  await second.host.move({ type: 'follow', shard: 0 });
  await took(second);
  assert.equal(await second.balance('ann'), 1000);
});

test('a log that lacks the entry of its head is not searched forever', async () => {
  const [first, second] = await pair();
  await second.host.move({ type: 'follow', shard: 0 });
  const { wal } = first;
  const read = wal.read.bind(wal);
  let reads = 0;
  wal.read = async (shard, after, limit) => {
    await turns(1);
    if (++reads > 1000) throw new Error('it looks and looks');
    return (await read(shard, after, limit)).slice(0, 0);
  };
  assert.equal((await first.execute(place([{ id: 'a' }]))).type, 'accepted');
  const result = await second.take();
  assert.ok(result.type === 'failed' && result.isPermanent, JSON.stringify(result));
  assert.match(result.reason, /before its head/);
  assert.equal(stateOf(second), 'away', 'from a snapshot it may be found');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS } from '../../src/base/time.js';
import { EntryCodec } from '../../src/store/format/entry-codec.js';
import type { HostedShard } from '../../src/threads/hosted-shard.js';
import type { Wallet } from '../../src/wallet/state/wallet.js';
import { commands } from '../support/domain.js';
import { MemoryWal } from '../support/memory-wal.js';
import { peek, TestHost, turns } from '../support/test-host.js';
import { until } from '../support/until.js';

const { place, settle } = commands;
const readAnn = { type: 'read-player', username: 'ann' } as const;

test('no answer, read or rejection is sent before it is durable', async () => {
  const test = await TestHost.started();
  await test.fund('ann', 100);
  test.wal.hold();
  const placed = test.execute(place([{ id: 't1' }]));
  await turns(5);
  const read = test.ask(readAnn);
  const rejected = test.execute(place([{ id: 't2', betAmount: 1000 }]));
  const repeated = test.execute(place([{ id: 't1' }]));
  const balance = test.execute(commands.checkBalance());
  for (const promise of [placed, read, rejected, repeated, balance])
    assert.equal(await peek<unknown>(promise), undefined);
  test.wal.release();
  assert.deepEqual(await placed, { type: 'accepted', before: 100, after: 90, isRepeat: false });
  assert.deepEqual(await repeated, { type: 'accepted', before: 100, after: 90, isRepeat: true });
  assert.deepEqual(await rejected, { type: 'failed', failure: 'insufficient-balance' });
  assert.deepEqual(await balance, { type: 'accepted', before: 90, after: 90, isRepeat: false });
  assert.equal((await read).type, 'player');
});

test('commands during two appends form the next append, with one entry per shard', async () => {
  const test = await TestHost.started({ shards: 4 });
  await test.fund('ann', 1000);
  await test.fund('bob', 1000, 2);
  await test.fund('eve', 1000, 1);
  test.wal.calls = [];
  test.wal.hold();
  const answers = [test.execute(place([{ id: 't0' }]))];
  await turns(5);
  answers.push(test.execute(place([{ id: 't0' }], { username: 'bob' }), 2));
  await turns(5);
  for (let i = 1; i < 10; i++) answers.push(test.execute(place([{ id: `t${i}` }])));
  answers.push(test.execute(place([{ id: 't1' }], { username: 'bob' }), 2));
  await turns(5);
  assert.equal(test.wal.calls.length, 2);
  answers.push(test.execute(place([{ id: 't0' }], { username: 'eve' }), 1));
  await turns(5);
  assert.equal(test.wal.calls.length, 2);
  test.wal.release();
  for (const answer of await Promise.all(answers)) assert.equal(answer.type, 'accepted');
  assert.deepEqual(
    test.wal.calls.map((call) => call.map(({ shard }) => shard)),
    [[0], [2], [0, 2, 1]],
  );
  assert.deepEqual(
    test.wal
      .entries(0)
      .slice(-2)
      .map((entry) => entry.events.length),
    [1, 9],
  );
});

test('after a lost answer, the same bytes are sent again and appended once', async () => {
  const test = await TestHost.started();
  await test.fund('ann', 100);
  test.wal.calls = [];
  test.wal.faultMode = 'answer-lost';
  const placed = test.execute(place([{ id: 't1' }]));
  const before = test.wal.entries(0).length;
  while (test.wal.calls.length < 3) await turns(1);
  assert.equal(await peek(placed), undefined);
  test.wal.faultMode = 'fine';
  assert.equal((await placed).type, 'accepted');
  assert.equal(test.wal.entries(0).length, before + 1);
  const attempts = test.wal.calls.map((call) => call[0]?.entries[0]?.bytes.toString('hex'));
  assert.equal(new Set(attempts).size, 1, 'an LSN is never used for two contents');
  assert.equal(await test.balance('ann'), 90);
});

test('during a store outage callers wait, and service resumes by itself', async () => {
  const test = await TestHost.started();
  await test.fund('ann', 100);
  test.wal.faultMode = 'not-written';
  const placed = test.execute(place([{ id: 't1' }]));
  await turns(50);
  const settled = test.execute(settle([{ id: 't1' }]));
  assert.equal(await peek(settled), undefined);
  test.wal.faultMode = 'fine';
  assert.equal((await placed).type, 'accepted');
  assert.deepEqual(await settled, { type: 'accepted', before: 90, after: 105, isRepeat: false });
});

test('a full mailbox refuses a command immediately without applying it', async () => {
  const test = await TestHost.started({ limits: { batchEventsMax: 2, mailboxMax: 3 } });
  await test.fund('ann', 1000);
  test.wal.hold();
  const answers = [test.execute(place([{ id: 't0' }]))];
  await turns(5);
  for (let i = 1; i < 6; i++) answers.push(test.execute(place([{ id: `t${i}` }])));
  assert.deepEqual(await test.execute(place([{ id: 't6' }])), { type: 'failed', failure: 'overloaded' });
  test.wal.release();
  for (const answer of await Promise.all(answers)) assert.equal(answer.type, 'accepted');
  assert.equal(await test.balance('ann'), 1000 - 6 * 10);
  const sizes = test.wal.entries(0).map((entry) => entry.events.length);
  assert.ok(
    sizes.every((size) => size <= 2),
    `entries of ${sizes}`,
  );
});

test('a command is never split over two entries, even if it exceeds the limit', async () => {
  const test = await TestHost.started({ limits: { batchBytesMax: 200 } });
  await test.fund('ann', 1000);
  await test.execute(place(Array.from({ length: 20 }, (_, i) => ({ id: `t${i}` }))));
  assert.equal(test.wal.entries(0).at(-1)?.events.length, 1);
  assert.equal(await test.balance('ann'), 800);
});

test('a command whose deadline passed in the mailbox is not executed', async () => {
  const test = await TestHost.started({ limits: { batchEventsMax: 1 } });
  await test.fund('ann', 100);
  test.wal.hold();
  const first = test.execute(place([{ id: 't1' }]));
  await turns(5);
  const second = test.execute(place([{ id: 't2' }]));
  const late = test.execute(place([{ id: 't3' }]), 0, test.clock.nowMs + 3000);
  test.clock.nowMs += 3000;
  test.wal.release();
  assert.equal((await first).type, 'accepted');
  assert.equal((await second).type, 'accepted');
  assert.deepEqual(await late, { type: 'failed', failure: 'not-durable-in-time' });
  assert.equal(await test.balance('ann'), 80);
});

test('expired requests free their space in the mailbox while the store is unavailable', async () => {
  const test = await TestHost.started({ limits: { batchEventsMax: 1, mailboxMax: 2 } });
  await test.fund('ann', 100);
  test.wal.hold();
  const placed = [test.execute(place([{ id: 't1' }]))];
  await turns(5);
  placed.push(test.execute(place([{ id: 't2' }])));
  const deadlineMs = test.clock.nowMs + 3000;
  const late = ['t3', 't4'].map((id) => test.execute(place([{ id }]), 0, deadlineMs));
  assert.deepEqual(await test.execute(place([{ id: 't5' }])), { type: 'failed', failure: 'overloaded' });
  test.clock.nowMs = deadlineMs;
  placed.push(test.execute(place([{ id: 't6' }])));
  for (const answer of await Promise.all(late)) {
    assert.deepEqual(answer, { type: 'failed', failure: 'not-durable-in-time' });
  }
  test.wal.release();
  for (const answer of await Promise.all(placed)) assert.equal(answer.type, 'accepted');
  assert.equal(await test.balance('ann'), 70);
});

test('a command read only after its deadline is not executed', async () => {
  const test = await TestHost.started();
  await test.fund('ann', 100);
  const late = test.execute(place([{ id: 't1' }]), 0, test.clock.nowMs);
  assert.deepEqual(await late, { type: 'failed', failure: 'not-durable-in-time' });
  assert.equal(await test.balance('ann'), 100);
});

test('a fenced shard releases no reply and reports the new owner', async () => {
  const test = await TestHost.started();
  await test.fund('ann', 100);
  test.wal.hold();
  const placed = test.execute(place([{ id: 't1' }]));
  await turns(5);
  const read = test.ask(readAnn);

  const codec = new EntryCodec(test.wal.storeId);
  const previous = await test.wal.head(0);
  const lsn = { epoch: previous.lsn.epoch + 1, sequence: previous.lsn.sequence + 1 };
  const header = { shard: 0, lsn, nonce: 'f'.repeat(16), previous, timeMs: 1 };
  const fence = codec.encodeFence(header, { host: 'other-host', pid: 42, startedMs: 0 });
  test.wal.intrude(0, { shard: 0, expected: previous, entries: [fence] });
  test.wal.release();

  assert.deepEqual(await placed, { type: 'failed', failure: 'unsure' });
  assert.deepEqual(await read, { type: 'failed', failure: 'moved' });
  assert.deepEqual(await test.execute(place([{ id: 't1' }])), { type: 'failed', failure: 'moved' });
  await turns(5);
  assert.deepEqual(test.fenced, [{ shard: 0, takenBy: 'process 42 on other-host, started 1970-01-01T00:00:00.000Z' }]);
  assert.deepEqual(test.wal.entries(0).at(-1)?.owner?.pid, 42, 'nothing was written after the fence');
});

test('a read is not answered by an owner that was just fenced', async () => {
  const wal = new MemoryWal('00000000-0000-4000-8000-00000000000a', 2);
  const former = await TestHost.started({ wal });
  await former.fund('ann', 100);
  const newer = await TestHost.started({ wal });
  await newer.execute(place([{ id: 't1' }]));
  assert.deepEqual(await former.ask(readAnn), { type: 'failed', failure: 'unsure' });
  await turns(5);
  assert.equal(former.fenced.length, 1);
  assert.equal(await newer.balance('ann'), 90);
});

test('a balance check is not answered by an owner that was just fenced', async () => {
  const wal = new MemoryWal('00000000-0000-4000-8000-00000000000b', 2);
  const former = await TestHost.started({ wal });
  await former.fund('ann', 100);
  const newer = await TestHost.started({ wal });
  await newer.execute(place([{ id: 't1' }]));
  assert.deepEqual(await former.execute(commands.checkBalance()), { type: 'failed', failure: 'unsure' });
  assert.deepEqual(await newer.execute(commands.checkBalance()), {
    type: 'accepted',
    before: 90,
    after: 90,
    isRepeat: false,
  });
});

test('a balance check writes nothing into the log', async () => {
  const test = await TestHost.started();
  await test.fund('ann', 100);
  const entries = () => [0, 1].map((shard) => test.wal.entries(shard).length);
  const before = entries();
  assert.equal((await test.execute(commands.checkBalance())).type, 'accepted');
  assert.deepEqual(entries(), before);
});

test('a foreign head with the same epoch stops the shard', async () => {
  const test = await TestHost.started();
  await test.fund('ann', 100);
  const codec = new EntryCodec(test.wal.storeId);
  const previous = await test.wal.head(0);
  const batch = codec.beginBatch(1);
  batch.add({ type: 'player-created', username: 'x', version: 1, timeMs: 1, currency: 'THB' });
  const lsn = { epoch: previous.lsn.epoch, sequence: previous.lsn.sequence + 1 };
  const entry = batch.seal({ shard: 0, lsn, nonce: 'e'.repeat(16), previous });
  test.wal.intrude(0, { shard: 0, expected: previous, entries: [entry] });
  assert.deepEqual(await test.execute(place([{ id: 't1' }])), { type: 'failed', failure: 'unsure' });
  assert.equal(test.host.status()[0]?.state, 'stopped');
  assert.deepEqual(test.fenced, []);
  assert.ok(test.logLines.some(({ fields }) => fields.code === 'log-diverged'));
});

/** Rules with a bug that every command for one product triggers. */
function buggyRules() {
  const products = new Map();
  const get = products.get.bind(products);
  products.get = (id: string) => {
    if (id === 'BUG') throw new Error('injected bug');
    return get(id);
  };
  return { products };
}

test('after a bug during a flush, recovery waits for the pending append', async () => {
  const test = await TestHost.started({ rules: buggyRules(), limits: { batchEventsMax: 16 } });
  await test.fund('ann', 1000);
  test.wal.hold();
  const answers = [test.execute(place([{ id: 't0' }]))];
  await turns(5);
  for (let i = 1; i <= 16; i++) answers.push(test.execute(place([{ id: `t${i}` }])));
  const struck = test.execute(place([{ id: 't17' }], { productId: 'BUG' }));
  test.wal.release();
  test.wal.hold();
  assert.deepEqual(await struck, { type: 'failed', failure: 'starting' });
  assert.equal((await answers[0])?.type, 'accepted');
  await turns(20);
  assert.equal(test.host.status()[0]?.state, 'failing');
  test.wal.release();
  for (const answer of await Promise.all(answers)) assert.equal(answer.type, 'accepted');
  while (test.host.status()[0]?.state !== 'serving') await turns(1);
  assert.equal(await test.balance('ann'), 1000 - 17 * 10);
});

test('a bug makes only its shard recover, with all acknowledged balances', async () => {
  const test = await TestHost.started({ rules: buggyRules() });
  await test.fund('ann', 100);
  await test.fund('bob', 100, 1);
  await test.execute(place([{ id: 't1' }]));
  test.wal.hold();
  const flying = test.execute(place([{ id: 't2' }]));
  await turns(5);
  const forming = test.execute(place([{ id: 't3' }]));
  const struck = test.execute(place([{ id: 't4' }], { productId: 'BUG' }));
  assert.deepEqual(await struck, { type: 'failed', failure: 'starting' });
  assert.deepEqual(await forming, { type: 'failed', failure: 'starting' }, 'decided after the last entry: dropped');
  test.wal.release();
  assert.equal((await flying).type, 'accepted', 'decided and sent before: told when it is durable');
  assert.equal((await test.execute(place([{ id: 't1' }], { username: 'bob' }), 1)).type, 'accepted');
  while (test.host.status()[0]?.state !== 'serving') await turns(1);
  assert.equal(await test.balance('ann'), 80);
  assert.deepEqual(await test.execute(place([{ id: 't3' }])), {
    type: 'accepted',
    before: 80,
    after: 70,
    isRepeat: false,
  });
  assert.equal(test.wal.entries(0).filter((entry) => entry.owner !== undefined).length, 2, 'a new epoch');
});

test('a second bug within a minute stops the shard and leaves the others serving', async () => {
  const test = await TestHost.started({ rules: buggyRules() });
  await test.fund('ann', 100);
  await test.execute(place([{ id: 't1' }], { productId: 'BUG' }));
  while (test.host.status()[0]?.state !== 'serving') await turns(1);
  await test.execute(place([{ id: 't1' }], { productId: 'BUG' }));
  await turns(5);
  assert.equal(test.host.status()[0]?.state, 'stopped');
  assert.equal(test.host.status()[1]?.state, 'serving');
  assert.deepEqual(await test.execute(place([{ id: 't2' }])), { type: 'failed', failure: 'stopped' });
  assert.ok(test.logLines.some(({ fields }) => fields.code === 'shard-failed-twice'));
});

test("a shard that recovers from a bug does not fence its log's new owner", async () => {
  const wal = new MemoryWal('00000000-0000-4000-8000-00000000000b', 2);
  const former = await TestHost.started({ wal, rules: buggyRules() });
  await former.fund('ann', 100);
  const newer = await TestHost.started({ wal });
  await former.execute(place([{ id: 't1' }], { productId: 'BUG' }));
  await turns(5);
  assert.equal(former.fenced.length, 1);
  assert.equal((await newer.execute(place([{ id: 't1' }]))).type, 'accepted');
});

test('a recovering shard answers 503 instead of a wrong balance', async () => {
  const wal = new MemoryWal('00000000-0000-4000-8000-00000000000c', 2);
  const first = await TestHost.started({ wal });
  await first.fund('ann', 100);
  const second = new TestHost({ wal });
  const started = second.start();
  assert.deepEqual(await second.execute(place([{ id: 't1' }])), { type: 'failed', failure: 'starting' });
  assert.deepEqual(await second.ask(readAnn), { type: 'failed', failure: 'starting' });
  await started;
  assert.equal(await second.balance('ann'), 100);
});

test('log time never goes back, even across a restart with an earlier clock', async () => {
  const wal = new MemoryWal('00000000-0000-4000-8000-00000000000d', 2);
  const first = await TestHost.started({ wal });
  await first.fund('ann', 100);
  first.clock.nowMs += 5000;
  await first.execute(place([{ id: 't1' }]));
  first.clock.nowMs -= 60_000;
  await first.execute(place([{ id: 't2' }]));
  const second = new TestHost({ wal });
  second.clock.nowMs -= 3_600_000;
  await second.start();
  await second.execute(place([{ id: 't3' }]));
  const times = wal.entries(0).flatMap((entry) => [entry.timeMs, ...entry.events.map((event) => event.timeMs)]);
  assert.deepEqual(
    times,
    [...times].sort((a, b) => a - b),
  );
});

test('a short jump of the wall clock reaches no log, even during recovery', async () => {
  const test = await TestHost.started();
  await test.fund('ann', 100);
  const { nowMs } = test.clock;
  test.clock.monotonicMs = () => nowMs;
  test.clock.nowMs += 3650 * DAY_MS;
  test.plantBug();
  assert.equal((await test.execute(place([{ id: 't1' }]))).type, 'failed');
  await until('it serves', () => test.host.status()[0]?.state === 'serving');
  assert.equal((await test.execute(place([{ id: 't1' }]))).type, 'accepted');
  for (const { timeMs } of test.wal.entries(0)) assert.equal(timeMs, nowMs);
});

test('rounds that have not changed during the retention are eventually forgotten', async () => {
  const test = await TestHost.started();
  await test.fund('ann', 100);
  await test.execute(place([{ id: 't1' }]));
  await test.execute(settle([{ id: 't1' }]));
  test.clock.nowMs += 121 * 86_400_000;
  while (test.wal.entries(0).at(-1)?.events[0]?.type !== 'rounds-forgotten')
    await new Promise((resolve) => setTimeout(resolve, 20));
  const result = await test.ask({ type: 'list-transactions', username: 'ann', limit: 10, after: undefined });
  assert.deepEqual(result, { type: 'transactions', page: { items: [], next: undefined } });
  assert.equal(await test.balance('ann'), 105);
});

test('appends never overlap, even when a full entry drains the mailbox', async () => {
  const test = await TestHost.started({ limits: { batchEventsMax: 2 } });
  await test.fund('ann', 1000);
  const append = test.wal.append.bind(test.wal);
  const sequences: number[] = [];
  let pending = 0;
  test.wal.append = async (appends) => {
    assert.equal(++pending, 1, 'no append begins while one is pending');
    sequences.push(...appends.flatMap(({ entries }) => entries.map(({ head }) => head.lsn.sequence)));
    await turns(sequences.length % 7);
    const outcomes = await append(appends);
    pending--;
    return outcomes;
  };
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, i) => test.execute(place([{ id: `t${i}`, betAmount: 1 }]))),
  );
  assert.ok(answers.every((answer) => answer.type === 'accepted'));
  assert.equal(new Set(sequences).size, sequences.length, 'no entry is appended twice');
  assert.equal(await test.balance('ann'), 950);
});

test('replies without events are also limited while the store does not answer', async () => {
  const test = await TestHost.started({ limits: { mailboxMax: 10 } });
  test.wal.hold();
  const reads = Array.from({ length: 100 }, () => test.ask(readAnn));
  const flying = test.execute(place([{ id: 't' }]));
  await turns(5);
  const later = Array.from({ length: 100 }, () => test.ask(readAnn));
  const reported = await Promise.all([...reads, ...later].map((read) => peek(read)));
  const overloaded = reported.filter((one) => one?.type === 'failed' && one.failure === 'overloaded');
  assert.ok(overloaded.length >= 150, `${overloaded.length} were refused at once`);
  test.wal.release();
  assert.equal((await flying).type, 'failed');
});

test("a bug at the completion of an append drops only its shard's memory", async () => {
  const test = await TestHost.started();
  await test.fund('ann', 100);
  const append = test.wal.append.bind(test.wal);
  test.wal.append = async (appends) => {
    test.wal.append = append;
    await append(appends);
    return appends.map(() => ({ type: 'a bug' }) as never);
  };
  assert.deepEqual(await test.execute(place([{ id: 't1' }])), { type: 'failed', failure: 'unsure' });
  await turns(20);
  assert.equal(await test.balance('ann'), 90, 'recovered, with what the log had');
});

test('a bug during forgetting makes only its shard recover', async () => {
  const wal = new MemoryWal('00000000-0000-4000-8000-00000000000f', 2);
  const first = await TestHost.started({ wal });
  await first.fund('ann', 100);
  const { shards } = first.host as unknown as { shards: Map<number, HostedShard> };
  const ann = shards.get(0)?.shard.source?.wallets.get('ann') as Wallet;
  ann.balance = 101;
  await first.host.takeSnapshots({ restMs: 0, deadlineMs: Number.POSITIVE_INFINITY });
  const test = await TestHost.started({ wal });
  test.clock.nowMs += 130 * DAY_MS;
  await until('the assertion', () => test.logLines.some(({ fields }) => fields.code === 'shard-failed'));
  assert.equal(test.host.status()[1]?.state, 'serving');
  await test.host.close();
});

test('no shard forgets a round when the clock jumps', async () => {
  const test = await TestHost.started();
  await test.fund('ann', 100);
  await test.execute(place([{ id: 't1' }]));
  await test.execute(settle([{ id: 't1' }]));
  // Let two hours pass, so that the grace period after the start is over.
  test.clock.nowMs += 7_200_000;
  const frozenMs = test.clock.monotonicMs();
  test.clock.monotonicMs = () => frozenMs;
  test.clock.nowMs += 200 * 86_400_000;
  const hasJumped = () => test.logLines.some(({ fields }) => fields.code === 'clock-jumped');
  await until('the jump', hasJumped);
  test.clock.nowMs -= 200 * 86_400_000;
  const repeat = await test.execute(place([{ id: 't1' }]));
  assert.deepEqual(repeat, { type: 'accepted', before: 100, after: 90, isRepeat: true });
});

test('a pending approval expires by itself, and the next owner sees the expiry', async () => {
  const wal = new MemoryWal('00000000-0000-4000-8000-00000000000d', 2);
  const rules = { approvalAbove: { THB: 50 }, approvalMs: 3_600_000 };
  const test = await TestHost.started({ wal, rules });
  await test.fund('ann', 10);
  const by = { name: 'anna', address: '10.1.2.3' };
  const wish = { type: 'deposit', id: 'big', username: 'ann', amount: 60, by } as const;
  assert.deepEqual(await test.execute(wish), { type: 'failed', failure: 'approval-pending' });
  test.clock.nowMs += 3_600_000;
  const operations = async (host: TestHost) => {
    const result = await host.ask({ type: 'list-operations', username: 'ann', limit: 9, after: undefined });
    return result.type === 'operations' ? result.page?.items.map(({ type }) => type) : undefined;
  };
  await until('the expiry', async () => (await operations(test))?.[0] === 'expiry');
  await test.host.close();
  const successor = await TestHost.started({ wal, rules });
  assert.deepEqual(await operations(successor), ['expiry', 'import']);
  assert.equal(await successor.balance('ann'), 10);
  await successor.host.close();
});

test('an idle owner notices that another owner took over', async () => {
  const wal = new MemoryWal('00000000-0000-4000-8000-00000000000e', 2);
  const former = await TestHost.started({ wal });
  await TestHost.started({ wal });
  await until('both fences', () => former.fenced.length === 2);
  assert.deepEqual(
    former.host.status().map(({ state }) => state),
    ['fenced', 'fenced'],
  );
});

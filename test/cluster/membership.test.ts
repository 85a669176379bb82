import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/logger.js';
import { Membership } from '../../src/cluster/membership.js';
import { Watch } from '../../src/cluster/watch.js';
import type { HeartbeatAnswer, MemberRecord, MembershipRegistry, RegistryView } from '../../src/ports/table.js';
import { VirtualTime } from '../simulation/virtual-time.js';

const ME = 'aaaaaaaa';
const PEER = 'bbbbbbbb';
const RECORD = { name: 'node-0', isFull: false } as MemberRecord;

/** A member next to a peer whose heartbeat never changes. The test answers in place of the registry. */
class Bench {
  readonly time = new VirtualTime();
  readonly watch = new Watch([]);
  readonly said: string[] = [];
  readonly membership: Membership;
  record = RECORD;
  answer: 'member' | 'gone' | 'silent' = 'member';
  /** How long the registry takes to answer. */
  slowMs = 0;

  constructor() {
    const { time, watch, said } = this;
    const view: RegistryView = {
      version: '1',
      members: new Map([
        [ME, RECORD],
        [PEER, RECORD],
      ]),
      drained: new Set(),
      plan: undefined,
      claims: new Map(),
    };
    const table: Partial<MembershipRegistry> = {
      join: async (_, { isFull }) => void said.push(isFull ? 'join, full' : 'join'),
      heartbeat: async (): Promise<HeartbeatAnswer> => {
        if (this.slowMs > 0) await new Promise<void>((resolve) => time.after(this.slowMs, resolve));
        if (this.answer === 'silent') throw new Error('the table is away');
        if (this.answer === 'gone') return { type: 'gone' };
        return { type: 'member', heartbeats: new Map([[PEER, '7']]), view };
      },
    };
    this.membership = new Membership({
      tag: ME,
      table: table as MembershipRegistry,
      watch,
      record: () => this.record,
      onView: () => {},
      onGone: () => void said.push('gone'),
      clock: { now: () => time.wallMs(), monotonicMs: () => time.nowMs },
      timers: time,
      log: silentLogger,
    });
  }

  isPeerGone(): boolean {
    return this.watch.isGone(PEER, this.time.nowMs);
  }
}

test('a member that was suspected dead confirms its shards before it rejoins', async () => {
  const bench = new Bench();
  await bench.membership.join();
  bench.answer = 'gone';
  await bench.time.pass(200);
  bench.answer = 'member';
  await bench.time.pass(200);
  assert.deepEqual(bench.said.slice(0, 3), ['join', 'gone', 'join']);
});

test('a member announces changes of its own record', async () => {
  const bench = new Bench();
  await bench.membership.join();
  bench.record = { ...RECORD, isFull: true };
  await bench.time.pass(2000);
  assert.deepEqual(bench.said, ['join', 'join, full']);
});

test('a silent registry does not prove that a member is dead', async () => {
  const bench = new Bench();
  await bench.membership.join();
  await bench.time.pass(900);
  assert.equal(bench.isPeerGone(), false);
  bench.answer = 'silent';
  await bench.time.pass(5000);
  assert.equal(bench.isPeerGone(), false, 'nobody could have seen a beat');
  bench.answer = 'member';
  await bench.time.pass(2000);
  assert.equal(bench.isPeerGone(), true);
});

test('a slow registry still shows that a member is dead', async () => {
  const bench = new Bench();
  await bench.membership.join();
  bench.slowMs = 300;
  await bench.time.pass(5000);
  assert.equal(bench.isPeerGone(), true);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/logger.js';
import { newClusterShards } from '../../src/cluster/cluster-shard.js';
import { Ownership } from '../../src/cluster/ownership.js';
import type { PeerMessage } from '../../src/cluster/peer-protocol.js';
import { Watch } from '../../src/cluster/watch.js';
import type { ShardState } from '../../src/engine/shard.js';
import type { Claim, Plan, RegistryView } from '../../src/ports/table.js';
import type { Head } from '../../src/ports/wal.js';
import type { Move, MoveResult, ShardStatus } from '../../src/threads/shards.js';
import { VirtualTime } from '../simulation/virtual-time.js';

const ME = 'aaaaaaaa';
const PEER = 'bbbbbbbb';
const headBy = (tag: string, epoch: number, sequence: number): Head => ({
  lsn: { epoch, sequence },
  nonce: `${tag}00000000`,
  checksum: sequence,
});

/** One node and shard 0. The node's actions appear in `moves` and `sent`, and have no other effect. */
class Bench {
  readonly time = new VirtualTime();
  private readonly shards = newClusterShards(1, 0);
  readonly watch = new Watch(this.shards);
  readonly moves: Move['type'][] = [];
  readonly sent: PeerMessage[] = [];
  readonly warnings: unknown[] = [];
  readonly claims = new Map<number, Claim>();
  readonly ownership: Ownership;
  isClockSane = true;
  lacksNames = false;
  local: ShardState;
  owner = ME;
  followers: readonly string[] = [];
  /** Settles the pending move, which stays pending until the test calls this. */
  settle: (result: MoveResult) => void = () => {};

  constructor(
    local: ShardState,
    public head: Head,
  ) {
    const { time, watch } = this;
    this.local = local;
    this.ownership = new Ownership({
      tag: ME,
      shards: this.shards,
      local: {
        isMemoryFull: false,
        status: () => this.status,
        move: ({ type }) => {
          this.moves.push(type);
          return new Promise((resolve) => {
            this.settle = resolve;
          });
        },
      },
      watch,
      view: () => this.view,
      isLinked: () => true,
      send: (_, message) => this.sent.push(message) > 0,
      broadcast: () => {},
      appendQueueOf: () => 0,
      headOf: async () => this.head,
      toTheirClock: (_, ms) => ms,
      claim: async () => {},
      release: async () => {},
      isClockSane: () => this.isClockSane,
      onServed: () => {},
      observer: { taken() {}, paused() {} },
      clock: { now: () => time.wallMs(), monotonicMs: () => time.nowMs },
      timers: time,
      log: { ...silentLogger, warn: (fields) => void this.warnings.push((fields as { code?: string }).code) },
    });
  }

  /** Lets the given time pass, tick by tick, with `seen` as the log's head. */
  async tickFor(ms: number, seen = this.head): Promise<void> {
    for (let passed = 0; passed < ms; passed += 50) {
      this.watch.headSeen(0, seen, this.time.nowMs);
      this.ownership.tick();
      await this.time.pass(50);
    }
  }

  get isCalm(): boolean {
    return this.ownership.isCalm(this.status);
  }

  private get status(): ShardStatus[] {
    return [
      {
        shard: 0,
        state: this.local,
        players: 0,
        waiting: 0,
        head: this.head,
        timeMs: 0,
        pendingAppendMs: 0,
        lacksNames: this.lacksNames,
        reason: undefined,
      },
    ];
  }

  private get view(): RegistryView {
    const plan: Plan = {
      owners: [this.owner],
      followers: [this.followers],
      pinned: [],
      archiveId: undefined,
      format: 1,
      why: '',
      by: '',
    };
    return { version: '1', members: new Map(), drained: new Set(), plan, claims: this.claims };
  }
}

test('a node takes no shards until it can trust its clock', async () => {
  const bench = new Bench('following', headBy('00000000', 0, 0));
  bench.isClockSane = false;
  await bench.tickFor(10_000);
  assert.deepEqual(bench.moves, []);
  bench.isClockSane = true;
  await bench.tickFor(50);
  assert.deepEqual(bench.moves, ['take']);
});

test('a live owner is asked for its shard, and fenced after five seconds', async () => {
  const bench = new Bench('following', headBy(PEER, 1, 5));
  const alive = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) {
      bench.watch.heard(PEER, [], bench.time.nowMs);
      await bench.tickFor(50);
    }
  };
  await alive(4950);
  assert.deepEqual(bench.moves, []);
  assert.ok(bench.sent.length > 10 && bench.sent.every(({ type }) => type === 'want'));
  await alive(200);
  assert.deepEqual(bench.moves, ['take']);
});

test("a live owner keeps its shard while the archive's key filter is unknown", async () => {
  const bench = new Bench('following', headBy(PEER, 1, 5));
  bench.lacksNames = true;
  const alive = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) {
      bench.watch.heard(PEER, [], bench.time.nowMs);
      await bench.tickFor(50);
    }
  };
  await alive(20_000);
  assert.deepEqual([bench.moves, bench.sent], [[], []]);
  assert.deepEqual(bench.warnings, ['shard-left-to-owner']);
  bench.lacksNames = false;
  await alive(300);
  assert.ok(bench.sent.length > 0 && bench.sent.every(({ type }) => type === 'want'));
  assert.deepEqual(bench.moves, [], 'it has the time to hand over');
});

test("a dead owner's shard is taken even without the archive's key filter", async () => {
  const bench = new Bench('following', headBy(PEER, 1, 5));
  bench.lacksNames = true;
  await bench.tickFor(2000);
  assert.deepEqual(bench.moves, ['take']);
});

test("a dead owner's log is taken over when it is idle", async () => {
  const bench = new Bench('following', headBy(PEER, 1, 5));
  for (let sequence = 6; sequence < 30; sequence++) {
    bench.head = headBy(PEER, 1, sequence);
    await bench.tickFor(50);
  }
  assert.deepEqual(bench.moves, [], 'somebody still appends');
  await bench.tickFor(400);
  assert.deepEqual(bench.moves, ['take']);
});

test('an owner is calm until the thread or the assignment of its shard changes', async () => {
  const bench = new Bench('serving', headBy(ME, 3, 5));
  await bench.tickFor(50);
  assert.ok(bench.isCalm);
  bench.local = 'failing';
  assert.ok(!bench.isCalm);
  bench.local = 'serving';
  bench.head = headBy(ME, 4, 6);
  assert.ok(!bench.isCalm, 'it serves in another epoch');
  await bench.tickFor(50);
  assert.ok(bench.isCalm);
  bench.owner = PEER;
  await bench.tickFor(50);
  assert.ok(!bench.isCalm, 'it waits for the new owner');
});

test('a follower is calm while its owner is assigned', async () => {
  const bench = new Bench('following', headBy(PEER, 1, 5));
  bench.owner = PEER;
  bench.followers = [ME];
  await bench.tickFor(50);
  assert.ok(bench.isCalm);
  bench.owner = ME;
  await bench.tickFor(50);
  assert.ok(!bench.isCalm);
});

test('a shard whose thread has ended is left to a live follower for three seconds', async () => {
  const bench = new Bench('serving', headBy(ME, 3, 5));
  bench.followers = [PEER];
  const alive = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) {
      bench.watch.heard(PEER, [], bench.time.nowMs);
      await bench.tickFor(50);
    }
  };
  await alive(100);
  bench.local = 'away';
  await alive(2900);
  assert.deepEqual([bench.moves, bench.ownership.lost()], [[], [0]]);
  await alive(200);
  assert.deepEqual(bench.moves, ['bring']);
});

test('a shard released in an earlier epoch counts as owned', async () => {
  const bench = new Bench('following', headBy(PEER, 2, 5));
  bench.claims.set(0, { epoch: 1, tag: '' });
  bench.watch.heard(PEER, [], bench.time.nowMs);
  await bench.tickFor(50);
  assert.deepEqual(bench.moves, []);
  bench.claims.set(0, { epoch: 2, tag: '' });
  await bench.tickFor(50);
  assert.deepEqual(bench.moves, ['take']);
});

test('a shard is handed over only to its assigned new owner', async () => {
  const bench = new Bench('serving', headBy(ME, 3, 5));
  await bench.tickFor(50);
  bench.ownership.wanted(0, PEER, 5);
  assert.deepEqual(bench.moves, []);
  bench.owner = PEER;
  bench.ownership.wanted(0, PEER, 5);
  assert.deepEqual(bench.moves, ['pause']);
});

test('a shard is abandoned when a peer serves it in a later epoch', async () => {
  const bench = new Bench('serving', headBy(ME, 3, 5));
  await bench.tickFor(50);
  bench.ownership.ownedBy(PEER, 0, 3);
  bench.ownership.ownedBy(PEER, 0, 2);
  assert.deepEqual(bench.moves, []);
  bench.ownership.ownedBy(PEER, 0, 4);
  assert.deepEqual(bench.moves, ['abandon']);
});

test('a failed shard recovers unless a peer has served it since', async () => {
  const bench = new Bench('serving', headBy(ME, 3, 5));
  await bench.tickFor(50);
  bench.local = 'failing';
  await bench.tickFor(50);
  assert.deepEqual(bench.moves, ['recover']);
  bench.ownership.ownedBy(PEER, 0, 4);
  bench.settle({ type: 'done' });
  await bench.tickFor(250);
  assert.deepEqual(bench.moves, ['recover', 'abandon']);
});

test('only the new owner can confirm a handover', async () => {
  const head = headBy(ME, 3, 5);
  const bench = new Bench('serving', head);
  await bench.tickFor(50);
  bench.owner = PEER;
  bench.ownership.wanted(0, PEER, 5);
  bench.settle({ type: 'still', head });
  await bench.time.pass(1);
  assert.deepEqual(
    bench.sent.map(({ type }) => type),
    ['take'],
  );
  bench.ownership.ownedBy('cccccccc', 0, 4);
  bench.ownership.ownedBy(PEER, 0, 3);
  await bench.time.pass(1);
  assert.deepEqual(bench.moves, ['pause']);
  bench.ownership.ownedBy(PEER, 0, 4);
  await bench.time.pass(1);
  assert.deepEqual(bench.moves, ['pause', 'release']);
});

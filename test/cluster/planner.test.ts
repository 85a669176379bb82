import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/logger.js';
import { newClusterShards } from '../../src/cluster/cluster-shard.js';
import { Planner } from '../../src/cluster/planner.js';
import { Watch } from '../../src/cluster/watch.js';
import type { MemberRecord, Plan, RegistryView } from '../../src/ports/table.js';
import { memberOf, planOf } from '../../src/ports/table-records.js';

const TICK_MS = 100;

/** One shard that no member serves. The first of two members makes the assignment. */
class Unserved {
  readonly members = new Map<string, MemberRecord>();
  plan: Plan = planOf(JSON.stringify({ owners: ['a'], followers: [[]], format: 1 }));
  private nowMs = 0;
  private readonly shards = newClusterShards(1, 0);
  private readonly watch = new Watch(this.shards);
  private readonly planner: Planner;

  constructor() {
    for (const tag of ['a', 'b']) this.tell(tag, {});
    this.planner = new Planner({
      tag: 'a',
      name: 'node-a',
      shards: this.shards,
      settings: { followers: 0, expect: 1 },
      watch: this.watch,
      reaches: () => true,
      putPlan: async (_, plan) => {
        this.plan = plan;
        return true;
      },
      onPlan: () => {},
      clock: { now: () => this.nowMs, monotonicMs: () => this.nowMs },
      log: silentLogger,
    });
  }

  tell(tag: string, said: Partial<MemberRecord>): void {
    const all = { name: `node-${tag}`, host: '127.0.0.1', port: 1, version: '1', format: 1, hasRoom: true, ...said };
    this.members.set(tag, memberOf(JSON.stringify(all)));
  }

  /** Lets `ms` pass. Resolves to the owners that were assigned to the shard, in order. */
  async pass(ms: number): Promise<string[]> {
    const owners: string[] = [];
    for (const untilMs = this.nowMs + ms; this.nowMs < untilMs; this.nowMs += TICK_MS) {
      const { plan, members } = this;
      const view: RegistryView = { version: '', members, drained: new Set(), plan, claims: new Map() };
      this.watch.heartbeatsRead(new Map([['b', `${this.nowMs}`]]), this.nowMs);
      this.planner.tick(view, []);
      await new Promise(setImmediate);
      if (this.plan !== plan) owners.push(this.plan.owners[0] as string);
    }
    return owners;
  }
}

test('a recently full member gets time to load its shard', async () => {
  const unserved = new Unserved();
  for (const tag of ['a', 'b']) unserved.tell(tag, { isFull: true });
  assert.deepEqual(await unserved.pass(30_000), []);
});

test('a member that fills up while loading leaves the shard to another', async () => {
  const unserved = new Unserved();
  for (const tag of ['a', 'b']) unserved.tell(tag, { isFull: true });
  await unserved.pass(20_000);
  unserved.tell('a', { isFull: true, hasRoom: false });
  assert.deepEqual(await unserved.pass(1000), ['b']);
  unserved.tell('a', { isFull: true });
  unserved.tell('b', { isFull: true, hasRoom: false });
  assert.deepEqual(await unserved.pass(4000), []);
  assert.deepEqual(await unserved.pass(2000), ['a']);
});

test('an unassigned shard goes to the first member that has free memory again', async () => {
  const unserved = new Unserved();
  unserved.tell('a', { isFull: true, hasRoom: false });
  unserved.tell('b', { isFull: true, hasRoom: false });
  unserved.plan = { ...unserved.plan, owners: [''] };
  assert.deepEqual(await unserved.pass(10_000), []);
  unserved.tell('b', { isFull: true });
  assert.deepEqual(await unserved.pass(1000), ['b']);
  assert.equal(unserved.plan.why, 'a shard had no owner');
});

test("the assignment remembers a dead member's archive", async () => {
  const unserved = new Unserved();
  unserved.tell('a', { archiveId: null });
  unserved.tell('b', { archiveId: 'one' });
  assert.deepEqual(await unserved.pass(1000), ['b']);
  assert.equal(unserved.plan.archiveId, 'one');
  unserved.members.delete('b');
  assert.deepEqual(await unserved.pass(30_000), [''], 'nobody else may have it');
  assert.equal(unserved.plan.archiveId, 'one');
  unserved.tell('a', { archiveId: 'one' });
  assert.deepEqual(await unserved.pass(1000), ['a']);
});

test("after a full restart, the members' archive replaces the former assignment's", async () => {
  const restarted = new Restarted(1, 'former');
  restarted.join('a', { archiveId: 'new' });
  await restarted.pass(5000);
  const [plan] = restarted.plans;
  assert.equal(plan?.archiveId, 'new');
  assert.deepEqual(plan?.owners, ['a', 'a', 'a']);
});

/**
 * A full restart. The planner is `a`. The owners of the old assignment have ended, and one of them refuses connections
 * at once.
 */
class Restarted {
  readonly plans: Plan[] = [];
  readonly members = new Map<string, MemberRecord>();
  private nowMs = 0;
  private readonly shards = newClusterShards(3, 0);
  private readonly watch = new Watch(this.shards);
  private readonly planner: Planner;

  constructor(
    expect: number,
    private readonly archiveId?: string,
  ) {
    for (const tag of ['x', 'y', 'z', 'a']) this.join(tag);
    this.planner = new Planner({
      tag: 'a',
      name: 'node-a',
      shards: this.shards,
      settings: { followers: 1, expect },
      watch: this.watch,
      reaches: () => true,
      putPlan: async (_, plan, gone) => {
        this.plans.push(plan);
        for (const tag of gone) this.members.delete(tag);
        return true;
      },
      onPlan: () => {},
      clock: { now: () => this.nowMs, monotonicMs: () => this.nowMs },
      log: silentLogger,
    });
    this.watch.refused('x');
  }

  join(tag: string, said: Partial<MemberRecord> = {}): void {
    const all = { name: `node-${tag}`, host: '127.0.0.1', port: 1, version: '1', format: 1, hasRoom: true, ...said };
    this.members.set(tag, memberOf(JSON.stringify(all)));
  }

  /** Lets time pass while the members `living` send heartbeats. */
  async pass(ms: number, ...living: readonly string[]): Promise<void> {
    const { archiveId } = this;
    const owners = { owners: ['x', 'y', 'z'], followers: [['y'], ['z'], ['x']] };
    const before = planOf(JSON.stringify({ ...owners, format: 1, archiveId }));
    for (const untilMs = this.nowMs + ms; this.nowMs < untilMs; this.nowMs += TICK_MS) {
      const heartbeats = [...this.members.keys()].map(
        (tag) => [tag, living.includes(tag) ? `${this.nowMs}` : 'old'] as const,
      );
      this.watch.heartbeatsRead(new Map(heartbeats), this.nowMs);
      const plan = this.plans.at(-1) ?? before;
      this.planner.tick({ version: '', members: this.members, drained: new Set(), plan, claims: new Map() }, []);
      await new Promise(setImmediate);
    }
  }
}

test('a full restart makes one assignment once every member is known alive or dead', async () => {
  const restarted = new Restarted(3);
  restarted.join('b');
  await restarted.pass(5000, 'b');
  assert.equal(restarted.plans.length, 0, 'the third has not come');
  restarted.join('c');
  await restarted.pass(3000, 'b', 'c');
  assert.equal(restarted.plans.length, 1);
  const [plan] = restarted.plans;
  assert.deepEqual([...(plan?.owners ?? [])].sort(), ['a', 'b', 'c']);
});

test("no assignment is made while a member's state is unknown", async () => {
  const restarted = new Restarted(3);
  for (const tag of ['b', 'c']) restarted.join(tag);
  await restarted.pass(900, 'b', 'c');
  assert.equal(restarted.plans.length, 0, 'y and z may live: they have not been silent for a second');
  await restarted.pass(2000, 'b', 'c', 'y');
  const owners = restarted.plans.at(-1)?.owners ?? [];
  assert.equal(owners[1], 'y', 'it lives, and keeps what it has');
});

test('a node waits two seconds for others, or a minute for expected nodes', async () => {
  const alone = new Restarted(1);
  await alone.pass(1900);
  assert.equal(alone.plans.length, 0);
  await alone.pass(300);
  assert.deepEqual(alone.plans.at(-1)?.owners, ['a', 'a', 'a']);
  const waiting = new Restarted(3);
  await waiting.pass(59_000);
  assert.equal(waiting.plans.length, 0);
  await waiting.pass(2000);
  assert.deepEqual(waiting.plans.at(-1)?.owners, ['a', 'a', 'a']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/logger.js';
import { Planner } from '../../src/cluster/planner.js';
import type { MemberRecord, Plan, TableView } from '../../src/cluster/table.js';
import { memberOf, planOf } from '../../src/cluster/table-records.js';
import { Watch } from '../../src/cluster/watch.js';

const TICK_MS = 100;

/** One shard that nobody serves, planned by the first of two members. */
class Unserved {
  readonly members = new Map<string, MemberRecord>();
  plan: Plan = planOf(JSON.stringify({ owners: ['a'], followers: [[]], format: 1 }));
  private nowMs = 0;
  private readonly watch = new Watch();
  private readonly planner: Planner;

  constructor() {
    for (const tag of ['a', 'b']) this.tell(tag, {});
    this.planner = new Planner({
      tag: 'a',
      name: 'node-a',
      shardCount: 1,
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

  /** The owners that it plans meanwhile, one after the other. */
  async pass(ms: number): Promise<string[]> {
    const owners: string[] = [];
    for (const untilMs = this.nowMs + ms; this.nowMs < untilMs; this.nowMs += TICK_MS) {
      const { plan, members } = this;
      const view: TableView = { version: '', members, drained: new Set(), plan, claims: new Map() };
      this.watch.beatsRead(new Map([['b', `${this.nowMs}`]]), this.nowMs);
      this.planner.tick(view, []);
      await new Promise(setImmediate);
      if (this.plan !== plan) owners.push(this.plan.owners[0] as string);
    }
    return owners;
  }
}

test('who was full a while ago has the time that it needs to read a shard', async () => {
  const unserved = new Unserved();
  for (const tag of ['a', 'b']) unserved.tell(tag, { isFull: true });
  assert.deepEqual(await unserved.pass(30_000), []);
});

test('who becomes full over a shard leaves it to who has room, and that one has as much time', async () => {
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

test('who has room again gets what nobody could have, and the plan says so', async () => {
  const unserved = new Unserved();
  unserved.tell('a', { isFull: true, hasRoom: false });
  unserved.tell('b', { isFull: true, hasRoom: false });
  unserved.plan = { ...unserved.plan, owners: [''] };
  assert.deepEqual(await unserved.pass(10_000), []);
  unserved.tell('b', { isFull: true });
  assert.deepEqual(await unserved.pass(1000), ['b']);
  assert.equal(unserved.plan.why, 'a shard had no owner');
});

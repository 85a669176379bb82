import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PAUSE_MIN_MS, PauseWatch } from '../../src/cluster/pause-watch.js';
import type { SimulatedNode } from '../simulation/simulated-node.js';
import { World } from '../simulation/world.js';

const TICK_MS = 200;

/** This node and some peers, whose monotonic clocks started at different times. */
class Machines {
  readonly watch = new PauseWatch();
  ourMs = 1000;
  readonly theirMs: number[];
  missedMs = 0;

  constructor(peers: number) {
    this.theirMs = Array.from({ length: peers }, (_, i) => 5000 * (i + 1));
  }

  /** Advances all clocks. Each peer's heartbeat arrives `lateMs` after it was sent. */
  ticks(count: number, lateMs: readonly number[] = []): void {
    for (let n = 0; n < count; n++) {
      this.ourMs += TICK_MS;
      for (const [i, ms] of this.theirMs.entries()) {
        this.theirMs[i] = ms + TICK_MS;
        const missedMs = this.watch.heard(String(i), ms + TICK_MS - (lateMs[i] ?? 0), this.ourMs);
        this.missedMs += missedMs;
        this.ourMs += missedMs;
      }
    }
  }

  /** Suspends this machine, so that its clock stops. */
  pause(ms: number): void {
    for (const [i, theirs] of this.theirMs.entries()) this.theirMs[i] = theirs + ms;
  }
}

for (const peers of [1, 2, 4]) {
  test(`a suspended machine with ${peers} peers learns how long it was paused`, () => {
    const machines = new Machines(peers);
    machines.ticks(20);
    assert.equal(machines.missedMs, 0);
    machines.pause(3_600_000);
    machines.ticks(1);
    assert.equal(machines.missedMs, 3_600_000);
    machines.ticks(200);
    assert.equal(machines.missedMs, 3_600_000, 'counted once');
  });
}

test('heartbeats delayed by a pause reveal nearly its whole duration', () => {
  const machines = new Machines(2);
  machines.ticks(20);
  const { ourMs } = machines;
  for (let n = 0; n < 50; n++) {
    machines.ticks(1);
    machines.ourMs -= TICK_MS;
  }
  // The last part of the delay is too short to count as a pause.
  assert.ok(machines.missedMs > 50 * TICK_MS - 500, `${machines.missedMs} ms`);
  assert.equal(machines.ourMs, ourMs + machines.missedMs);
});

test('a pause is detected after links were lost and reopened', () => {
  const machines = new Machines(2);
  machines.ticks(20);
  for (const tag of ['0', '1']) machines.watch.linkLost(tag);
  machines.pause(10_000);
  machines.ticks(20);
  assert.equal(machines.missedMs, 10_000);
});

test('late heartbeats do not count as a pause, and neither does their end', () => {
  const machines = new Machines(2);
  machines.ticks(20);
  machines.ticks(10, [4000, 4000]);
  machines.ticks(20);
  assert.equal(machines.missedMs, 0);
});

test('late first heartbeats on a link do not count as a pause', () => {
  const machines = new Machines(1);
  machines.ticks(2, [2000]);
  machines.ticks(20);
  assert.equal(machines.missedMs, 0);
});

test("a peer's pause changes nothing, before and after the peer has noticed it", () => {
  const machines = new Machines(2);
  machines.ticks(20);
  machines.theirMs[0] = (machines.theirMs[0] as number) - 60_000;
  machines.ticks(2);
  machines.theirMs[0] = (machines.theirMs[0] as number) + 60_000;
  machines.ticks(20);
  assert.equal(machines.missedMs, 0);
});

test('a single peer of three that jumps ahead is ignored', () => {
  const machines = new Machines(3);
  machines.ticks(20);
  machines.theirMs[1] = (machines.theirMs[1] as number) + 60_000;
  machines.ticks(100);
  assert.equal(machines.missedMs, 0);
  machines.pause(5000);
  machines.ticks(1);
  assert.equal(machines.missedMs, 5000, 'its clock is taken as it is by then');
});

test('a peer without a link has no influence', () => {
  const machines = new Machines(2);
  machines.ticks(20);
  machines.watch.linkLost('1');
  machines.theirMs.pop();
  machines.pause(10_000);
  machines.ticks(1);
  assert.equal(machines.missedMs, 10_000);
});

test('only the suspended node of a cluster advances its clock, and only once', async () => {
  const world = new World({ seed: 1, nodes: 3, shards: 2, servers: 1, players: 1, followers: 1 });
  await world.begin();
  await world.time.pass(15_000);
  const [suspended, ...others] = world.living as [SimulatedNode, ...SimulatedNode[]];
  const clocks = () => world.living.map(({ process }) => process.monotonicMs() - world.time.nowMs);
  const before = clocks();
  suspended.process.stop();
  await world.time.pass(60_000);
  suspended.process.goOn(true);
  await world.time.pass(10_000);
  const drift = clocks().map((ms, i) => ms - (before[i] as number));
  assert.ok(Math.abs(drift[0] as number) < PAUSE_MIN_MS, `${drift[0]} ms`);
  assert.deepEqual(drift.slice(1), [0, 0]);
  assert.equal(others.length, 2);
});

test("a deadline set before its machine's pause does not outlive the pause", async () => {
  const world = new World({ seed: 1, nodes: 2, shards: 1, servers: 1, players: 1, followers: 1 });
  await world.begin();
  await world.time.pass(15_000);
  const [suspended] = world.living as [SimulatedNode];
  const { process } = suspended;
  const deadlineMs = process.monotonicMs() + 5000;
  process.stop();
  await world.time.pass(60_000);
  process.goOn(true);
  assert.ok(process.monotonicMs() < deadlineMs, 'the machine itself notices nothing');
  await world.time.pass(1000);
  assert.ok(process.monotonicMs() >= deadlineMs);
});

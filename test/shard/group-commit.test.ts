import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FlightMember, GroupCommit } from '../../src/shard/group-commit.js';
import type { Append, AppendOutcome, Head } from '../../src/shard/log/wal.js';

const HEAD: Head = { lsn: { epoch: 1, sequence: 1 }, nonce: '0'.repeat(16), checksum: 0 };
const OK: AppendOutcome = { type: 'ok' };

/** Rounds of one member, with turns, clock and store in the hands of the test. */
class Scene implements FlightMember {
  /** How many commands each flight took. */
  readonly flights: number[] = [];
  readonly landed: string[] = [];
  readonly pauses: number[] = [];
  nowMs = 0;
  private waiting = 0;
  private turns: (() => void)[] = [];
  private paused: (() => void)[] = [];
  private arrive: ((outcomes: AppendOutcome[]) => void) | undefined = undefined;
  private readonly commits = new GroupCommit(
    {
      append: () =>
        new Promise((resolve) => {
          this.arrive = resolve;
        }),
    } as unknown as ConstructorParameters<typeof GroupCommit>[0],
    (callback) => this.turns.push(callback),
    (callback, ms) => {
      this.pauses.push(ms);
      this.paused.push(callback);
    },
    () => this.nowMs,
  );

  constructor() {
    this.commits.join(this);
  }

  command(count = 1): void {
    for (let i = 0; i < count; i++) {
      this.waiting++;
      this.commits.request();
    }
  }

  /** The events of a turn have been handled. */
  endTurn(tookMs = 0): void {
    this.nowMs += tookMs;
    for (const callback of this.turns.splice(0)) callback();
  }

  async arrives(outcome: AppendOutcome = OK): Promise<void> {
    this.arrive?.([outcome]);
    await new Promise((resolve) => setImmediate(resolve));
  }

  endPause(): void {
    for (const callback of this.paused.splice(0)) callback();
  }

  depart(): Append | undefined {
    if (this.waiting === 0) return undefined;
    this.flights.push(this.waiting);
    this.waiting = 0;
    return { shard: 0, expected: HEAD, entries: [] };
  }

  land(_append: Append, outcome: AppendOutcome): void {
    this.landed.push(outcome.type);
  }
}

test('a single command departs at the end of its turn', () => {
  const scene = new Scene();
  scene.command();
  assert.deepEqual(scene.flights, []);
  scene.endTurn();
  assert.deepEqual(scene.flights, [1]);
});

test('a round takes along what the turns after its first command bring, until one brings nothing', () => {
  const scene = new Scene();
  scene.command(3);
  scene.endTurn();
  scene.command(4);
  scene.endTurn();
  assert.deepEqual(scene.flights, []);
  scene.endTurn();
  assert.deepEqual(scene.flights, [7]);
});

test('what comes during a flight forms the next round', async () => {
  const scene = new Scene();
  scene.command();
  scene.endTurn();
  scene.command(5);
  scene.endTurn();
  assert.deepEqual(scene.flights, [1], 'one flight at a time');
  await scene.arrives();
  scene.endTurn();
  scene.endTurn();
  assert.deepEqual(scene.flights, [1, 5]);
  assert.deepEqual(scene.landed, ['ok']);
});

test('a round departs with 256 commands, though each turn brings more', () => {
  const scene = new Scene();
  while (scene.flights.length === 0) {
    scene.command(100);
    scene.endTurn();
  }
  assert.deepEqual(scene.flights, [300]);
});

test('a round departs after 2 ms, though each turn brings more: turns of a busy server are long', () => {
  const scene = new Scene();
  scene.command();
  scene.command();
  scene.endTurn(1.5);
  scene.command();
  scene.endTurn(1.5);
  assert.deepEqual(scene.flights, [3]);
});

test('an append that fails goes again after pauses that grow to a second', async () => {
  const scene = new Scene();
  scene.command();
  scene.endTurn();
  for (let i = 0; i < 8; i++) {
    scene.command();
    await scene.arrives({ type: 'failed', error: new Error('weather') });
    scene.endPause();
  }
  assert.deepEqual(scene.pauses, [20, 40, 80, 160, 320, 640, 1000, 1000]);
});

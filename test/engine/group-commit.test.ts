import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FlushMember, GroupCommit } from '../../src/engine/group-commit.js';
import type { Append, AppendOutcome, Head } from '../../src/ports/wal.js';

const HEAD: Head = { lsn: { epoch: 1, sequence: 1 }, nonce: '0'.repeat(16), checksum: 0 };
const OK: AppendOutcome = { type: 'ok' };

/** Group commit with one member. The test controls the event-loop iterations, the clock and the store. */
class Scene implements FlushMember {
  /** Number of commands in each flush. */
  readonly flushes: number[] = [];
  readonly landed: string[] = [];
  /** For each release of replies, the number of flushes that had been started by then. */
  readonly flushesAtRelease: number[] = [];
  readonly pauses: number[] = [];
  nowMs = 0;
  private waiting = 0;
  private turns: (() => void)[] = [];
  private paused: (() => void)[] = [];
  private arrive: ((outcomes: AppendOutcome[]) => void) | undefined = undefined;
  private readonly commits = new GroupCommit({
    wal: {
      appendQueueOf: () => 0,
      append: () =>
        new Promise((resolve) => {
          this.arrive = resolve;
        }),
    },
    defer: (callback) => this.turns.push(callback),
    delay: (callback, ms) => {
      this.pauses.push(ms);
      this.paused.push(callback);
    },
    monotonicMs: () => this.nowMs,
    onQuiet: () => this.quiet++,
  });
  quiet = 0;
  readonly id = 0;
  private again = 0;

  command(count = 1): void {
    for (let i = 0; i < count; i++) {
      this.waiting++;
      this.commits.request(this);
    }
  }

  /** Ends the event-loop iteration by running the callbacks deferred to its end. */
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

  takeAppend(): Append | undefined {
    if (this.waiting === 0) return undefined;
    this.flushes.push(this.waiting);
    this.again = this.waiting;
    this.waiting = 0;
    return { shard: 0, expected: HEAD, entries: [] };
  }

  appendCompleted(_append: Append, outcome: AppendOutcome): void {
    this.landed.push(outcome.type);
    if (outcome.type === 'failed') this.command(this.again);
  }

  releaseReplies(): void {
    this.flushesAtRelease.push(this.flushes.length);
  }
}

test('a single command is flushed at the end of its event-loop iteration', () => {
  const scene = new Scene();
  scene.command();
  assert.deepEqual(scene.flushes, []);
  scene.endTurn();
  assert.deepEqual(scene.flushes, [1]);
});

test('a batch grows until an event-loop iteration adds no command', () => {
  const scene = new Scene();
  scene.command(3);
  scene.endTurn();
  scene.command(4);
  scene.endTurn();
  assert.deepEqual(scene.flushes, []);
  scene.endTurn();
  assert.deepEqual(scene.flushes, [7]);
});

test('commands during a flush form the next one', async () => {
  const scene = new Scene();
  scene.command();
  scene.endTurn();
  scene.command(5);
  scene.endTurn();
  assert.deepEqual(scene.flushes, [1], 'a shard has one append at a time');
  await scene.arrives();
  scene.endTurn();
  scene.endTurn();
  assert.deepEqual(scene.flushes, [1, 5]);
  assert.deepEqual(scene.landed, ['ok']);
});

test('onQuiet runs only when a flush starts in a quiet event-loop iteration', async () => {
  const scene = new Scene();
  scene.command();
  scene.endTurn();
  assert.equal(scene.quiet, 1);
  await scene.arrives();
  while (scene.flushes.length < 2) {
    scene.command(100);
    scene.endTurn();
  }
  assert.equal(scene.quiet, 1, 'it departed because it was full');
});

test('a batch of 16 commands is flushed even if each iteration adds more', () => {
  const scene = new Scene();
  while (scene.flushes.length === 0) {
    scene.command(6);
    scene.endTurn();
  }
  assert.deepEqual(scene.flushes, [18]);
});

test('full batches are flushed before replies are released, and other batches afterwards', async () => {
  const scene = new Scene();
  scene.command();
  scene.endTurn();
  scene.command(16);
  await scene.arrives();
  assert.deepEqual(scene.flushes, [1, 16]);
  assert.deepEqual(scene.flushesAtRelease, [2]);
  scene.command(15);
  await scene.arrives();
  assert.deepEqual(scene.flushes, [1, 16]);
  assert.deepEqual(scene.flushesAtRelease, [2, 2]);
  scene.endTurn();
  scene.endTurn();
  assert.deepEqual(scene.flushes, [1, 16, 15]);
});

test('a batch is flushed after 2 ms even if each iteration adds more', () => {
  const scene = new Scene();
  scene.command();
  scene.command();
  scene.endTurn(1.5);
  scene.command();
  scene.endTurn(1.5);
  assert.deepEqual(scene.flushes, [3]);
});

test('a failed append is retried after pauses that grow to 200 ms', async () => {
  const scene = new Scene();
  scene.command();
  scene.endTurn();
  for (let i = 0; i < 8; i++) {
    scene.command();
    await scene.arrives({ type: 'failed', error: new Error('weather') });
    scene.endPause();
  }
  assert.deepEqual(scene.pauses, [20, 40, 80, 160, 200, 200, 200, 200]);
});

type Outcomes = AppendOutcome[] | Promise<AppendOutcome[]>;

/** Three shards on two servers; the test completes their flushes one by one. */
class TwoQueues {
  readonly appendQueueOf = new Map([
    [0, 0],
    [1, 1],
    [2, 1],
  ]);
  /** Pending flushes by the shards in them. */
  readonly inTheAir = new Map<string, (outcomes: Outcomes) => void>();
  readonly landed: string[] = [];
  pauses = 0;
  private readonly members: FlushMember[] = [0, 1, 2].map((id) => ({
    id,
    takeAppend: () => ({ shard: id, expected: HEAD, entries: [] }),
    appendCompleted: (_append, outcome) => {
      this.landed.push(`${id} ${outcome.type}`);
    },
    releaseReplies() {},
  }));
  private readonly commits = new GroupCommit({
    wal: {
      appendQueueOf: (shard) => this.appendQueueOf.get(shard) as number,
      append: (appends) =>
        new Promise((resolve) => {
          this.inTheAir.set(appends.map(({ shard }) => shard).join('+'), resolve);
        }),
    },
    defer: setImmediate,
    delay: () => void this.pauses++,
    monotonicMs: () => 0,
    onQuiet: () => {},
  });

  async request(...shards: number[]): Promise<void> {
    for (const shard of shards) this.commits.request(this.members[shard] as FlushMember);
    await this.turns();
  }

  async land(append: string, outcomes: Outcomes = append.split('+').map(() => OK)): Promise<void> {
    const land = this.inTheAir.get(append);
    assert.ok(land !== undefined, `no flush ${append}`);
    this.inTheAir.delete(append);
    land(outcomes);
    await this.turns();
  }

  private async turns(): Promise<void> {
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
  }
}

test('a server that does not answer does not delay appends to other servers', async () => {
  const scene = new TwoQueues();
  await scene.request(0, 1);
  assert.deepEqual([...scene.inTheAir.keys()], ['0', '1']);
  await scene.land('1');
  await scene.request(1);
  await scene.land('1');
  assert.deepEqual(scene.landed, ['1 ok', '1 ok']);
});

test('a failed append is retried without a pause if a different one succeeded', async () => {
  const scene = new TwoQueues();
  scene.appendQueueOf.set(1, 0);
  await scene.request(0, 1);
  await scene.land('0+1', [{ type: 'failed', error: new Error('weather') }, OK]);
  await scene.request(0);
  assert.deepEqual([...scene.inTheAir.keys()], ['0']);
  assert.equal(scene.pauses, 0);
  await scene.land('0', [{ type: 'failed', error: new Error('weather') }]);
  assert.equal(scene.pauses, 1, 'nothing got through');
});

test('an append has an unknown outcome if the store throws', async () => {
  const scene = new TwoQueues();
  await scene.request(0);
  await scene.land('0', Promise.reject(new Error('a fault of the driver')));
  assert.deepEqual(scene.landed, ['0 failed']);
  assert.equal(scene.pauses, 1, 'and goes again after a pause');
});

test('a shard changes its append queue only after its pending append completes', async () => {
  const scene = new TwoQueues();
  await scene.request(0);
  scene.appendQueueOf.set(0, 1);
  await scene.request(0, 1);
  await scene.request(2);
  assert.deepEqual([...scene.inTheAir.keys()], ['0', '1', '2']);
  await scene.land('0');
  assert.deepEqual([...scene.inTheAir.keys()], ['1', '2'], 'its next append waits for a flush of its new queue');
  await scene.land('1');
  assert.deepEqual([...scene.inTheAir.keys()], ['2', '0']);
});

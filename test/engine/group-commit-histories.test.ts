import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type FlushMember, GroupCommit } from '../../src/engine/group-commit.js';
import type { Append, AppendOutcome, Head } from '../../src/ports/wal.js';

const HEAD: Head = { lsn: { epoch: 1, sequence: 1 }, nonce: '0'.repeat(16), checksum: 0 };
const OK: AppendOutcome = { type: 'ok' };
const FAILED: AppendOutcome = { type: 'failed', error: new Error('the store does not answer') };

/**
 * Shards that share one append queue, and a store that answers when the test says so. `history` has a line for each
 * flush (`flush a1,a2 b1`: shard a appends its first two commands), for each outcome, for each released reply, and for
 * each pause. As in production, a shard keeps an append with an unknown outcome, and sends it again.
 */
class Scene {
  readonly history: string[] = [];
  /** Called for each released reply. */
  onReply: (command: string) => void = () => {};
  /** Called when a shard adds its commands to a flush. */
  onDepart: (shard: string) => void = () => {};
  onQuiet: () => void = () => {};
  private readonly shards = new Map<string, HistoryShard>();
  private readonly turnEnds: (() => void)[] = [];
  private readonly pauseEnds: (() => void)[] = [];
  /** Flushes in progress, by the shards in them, the oldest first. */
  private readonly inProgress = new Map<string, (outcomes: AppendOutcome[] | Promise<AppendOutcome[]>) => void>();
  /** An error that the store throws at the next call instead of returning a promise. */
  thrown: Error | undefined = undefined;
  readonly commits = new GroupCommit({
    wal: { appendQueueOf: () => 0, append: (appends) => this.append(appends) },
    defer: (callback) => this.turnEnds.push(callback),
    delay: (callback, ms) => {
      this.history.push(`pause ${ms}`);
      this.pauseEnds.push(callback);
    },
    monotonicMs: () => 0,
    onQuiet: () => this.onQuiet(),
  });

  private append(appends: readonly Append[]): Promise<AppendOutcome[]> {
    const names = appends.map(({ shard }) => [...this.shards.values()][shard]?.pending.join(','));
    this.history.push(`flush ${names.join(' ')}`);
    const { thrown } = this;
    this.thrown = undefined;
    if (thrown !== undefined) throw thrown;
    const shards = appends.map(({ shard }) => [...this.shards.keys()][shard] as string);
    for (const shard of shards) assert.ok(!this.isInProgress(shard), 'one append of a shard at a time');
    assert.ok(shards.length > 0 && this.inProgress.size < 2, 'at most two flushes at a time');
    return new Promise((resolve) => {
      this.inProgress.set(shards.join(' '), resolve);
    });
  }

  private isInProgress(shard: string): boolean {
    return [...this.inProgress.keys()].some((flush) => flush.split(' ').includes(shard));
  }

  /** Submits commands, named after their shard and numbered from 1: `a` becomes `a1`. */
  command(...shards: string[]): void {
    for (const name of shards) {
      let shard = this.shards.get(name);
      if (shard === undefined) {
        shard = new HistoryShard(this.shards.size, name, this);
        this.shards.set(name, shard);
      }
      shard.command();
    }
  }

  /** Ends event-loop iterations until no flush is about to start. */
  async endTurns(): Promise<void> {
    for (let turn = 0; this.turnEnds.length > 0; turn++) {
      assert.ok(turn < 100, 'iterations without end');
      for (const callback of this.turnEnds.splice(0)) callback();
    }
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Submits commands and starts their flush. */
  async flush(...shards: string[]): Promise<void> {
    this.command(...shards);
    await this.endTurns();
  }

  /** Answers the oldest flush. */
  async outcomes(...outcomes: AppendOutcome[]): Promise<void> {
    await this.answered([...this.inProgress.keys()][0], outcomes);
  }

  /** Answers the flush of these shards. */
  async outcomesOf(flush: string, ...outcomes: AppendOutcome[]): Promise<void> {
    await this.answered(flush, outcomes);
  }

  /** Answers the oldest flush before the event-loop iteration ends. */
  async outcomesWithinTurn(...outcomes: AppendOutcome[]): Promise<void> {
    this.answer([...this.inProgress.keys()][0], outcomes);
    await new Promise((resolve) => setImmediate(resolve));
  }

  async rejects(): Promise<void> {
    await this.answered([...this.inProgress.keys()][0], Promise.reject(new Error('a bug in the driver')));
  }

  private async answered(
    flush: string | undefined,
    outcomes: AppendOutcome[] | Promise<AppendOutcome[]>,
  ): Promise<void> {
    this.answer(flush, outcomes);
    for (let i = 0; i < 3; i++) await this.endTurns();
  }

  private answer(flush: string | undefined, outcomes: AppendOutcome[] | Promise<AppendOutcome[]>): void {
    const answer = this.inProgress.get(flush ?? '');
    assert.ok(flush !== undefined && answer !== undefined, 'no such flush is in progress');
    this.inProgress.delete(flush);
    answer(outcomes);
  }

  async endPause(): Promise<void> {
    assert.equal(this.pauseEnds.length, 1, 'one pause at a time');
    for (const callback of this.pauseEnds.splice(0)) callback();
    await this.endTurns();
  }

  /** Answers the newest or the oldest flush, or else ends a pause. Returns false if there is nothing to do. */
  async proceed(isNewest: boolean, isFailed: readonly boolean[]): Promise<boolean> {
    await this.endTurns();
    const flush = [...this.inProgress.keys()].at(isNewest ? -1 : 0);
    if (flush !== undefined)
      await this.outcomesOf(flush, ...flush.split(' ').map((_, i) => (isFailed[i] ? FAILED : OK)));
    else if (this.pauseEnds.length > 0) await this.endPause();
    else return false;
    return true;
  }

  /** Number of commands of each shard. */
  commandCounts(): [shard: string, count: number][] {
    return [...this.shards].map(([name, { count }]) => [name, count]);
  }

  /** The lines since the last call. */
  lines(): string[] {
    return this.history.splice(0);
  }
}

class HistoryShard implements FlushMember {
  /** Number of commands so far. */
  count = 0;
  private waiting: string[] = [];
  /** Commands of the append that is in the store or has an unknown outcome. */
  pending: string[] = [];
  private durable: string[] = [];

  constructor(
    readonly id: number,
    private readonly name: string,
    private readonly scene: Scene,
  ) {}

  command(): void {
    this.waiting.push(`${this.name}${++this.count}`);
    this.scene.commits.request(this);
  }

  takeAppend(): Append | undefined {
    if (this.pending.length === 0) this.pending = this.waiting.splice(0);
    if (this.pending.length === 0) return undefined;
    this.scene.onDepart(this.name);
    return { shard: this.id, expected: HEAD, entries: [] };
  }

  appendCompleted(_append: Append, outcome: AppendOutcome): void {
    this.scene.history.push(`${this.name} ${outcome.type}`);
    if (outcome.type === 'ok') this.durable.push(...this.pending.splice(0));
    if (this.pending.length > 0 || this.waiting.length > 0) this.scene.commits.request(this);
  }

  releaseReplies(): void {
    for (const command of this.durable.splice(0)) {
      this.scene.history.push(`reply ${command}`);
      this.scene.onReply(command);
    }
  }
}

test('a partial failure releases replies of durable appends alone, then repeats the rest', async () => {
  const scene = new Scene();
  await scene.flush('a', 'b', 'c', 'b');
  await scene.outcomes(OK, FAILED, OK);
  assert.deepEqual(scene.lines(), [
    'flush a1 b1,b2 c1',
    ...['a ok', 'b failed', 'c ok', 'reply a1', 'reply c1'],
    'flush b1,b2',
  ]);
  await scene.outcomes(OK);
  assert.deepEqual(scene.lines(), ['b ok', 'reply b1', 'reply b2']);
});

test('a repeated append has the same commands, and later commands follow it', async () => {
  const scene = new Scene();
  await scene.flush('a', 'b');
  scene.command('b', 'a');
  await scene.outcomes(OK, FAILED);
  await scene.outcomes(OK, OK);
  await scene.outcomes(OK);
  assert.deepEqual(scene.lines(), [
    'flush a1 b1',
    ...['a ok', 'b failed', 'reply a1'],
    'flush b1 a2',
    ...['b ok', 'a ok', 'reply b1', 'reply a2'],
    'flush b2',
    ...['b ok', 'reply b2'],
  ]);
});

test('a store that rejects leaves every append of the flush unanswered', async () => {
  const scene = new Scene();
  await scene.flush('a', 'b');
  await scene.rejects();
  assert.deepEqual(scene.lines(), ['flush a1 b1', 'a failed', 'b failed', 'pause 20']);
  await scene.endPause();
  await scene.outcomes(OK, OK);
  assert.deepEqual(scene.lines(), ['flush a1 b1', 'a ok', 'b ok', 'reply a1', 'reply b1']);
});

test('a store that throws before it returns a promise is retried as well', async () => {
  const scene = new Scene();
  scene.thrown = new Error('a bug in the driver');
  await scene.flush('a');
  assert.deepEqual(scene.lines(), ['flush a1', 'a failed', 'pause 20']);
  await scene.endPause();
  await scene.outcomes(OK);
  assert.deepEqual(scene.lines(), ['flush a1', 'a ok', 'reply a1']);
});

test('commands of the failed shard that arrive during a pause wait for its end', async () => {
  const scene = new Scene();
  await scene.flush('a');
  await scene.outcomes(FAILED);
  await scene.flush(...'a'.repeat(20));
  assert.deepEqual(scene.lines(), ['flush a1', 'a failed', 'pause 20']);
  await scene.endPause();
  assert.deepEqual(scene.lines(), ['flush a1']);
});

test('a shard that keeps failing does not delay the others', async () => {
  const scene = new Scene();
  await scene.flush('a');
  await scene.outcomes(FAILED);
  for (let n = 1; n <= 3; n++) {
    await scene.flush('b');
    await scene.outcomesOf('b', OK);
  }
  assert.deepEqual(scene.lines(), [
    ...['flush a1', 'a failed', 'pause 20'],
    ...[1, 2, 3].flatMap((n) => [`flush b${n}`, 'b ok', `reply b${n}`]),
  ]);
  await scene.endPause();
  await scene.outcomes(FAILED);
  assert.deepEqual(scene.lines(), ['flush a1', 'a failed', 'pause 20']);
});

test('after a recovery, the next outage begins with the shortest pause', async () => {
  const scene = new Scene();
  await scene.flush('a');
  await scene.outcomes(FAILED);
  await scene.endPause();
  await scene.outcomes(FAILED);
  await scene.endPause();
  await scene.outcomes(OK);
  await scene.flush('a');
  await scene.outcomes(FAILED);
  const pauses = scene.lines().filter((line) => line.startsWith('pause'));
  assert.deepEqual(pauses, ['pause 20', 'pause 40', 'pause 20']);
});

test('a partial failure ends an outage, so the next pause is the shortest', async () => {
  const scene = new Scene();
  await scene.flush('a', 'b');
  await scene.outcomes(FAILED, FAILED);
  await scene.endPause();
  await scene.outcomes(FAILED, OK);
  await scene.outcomes(FAILED);
  const pauses = scene.lines().filter((line) => line.startsWith('pause'));
  assert.deepEqual(pauses, ['pause 20', 'pause 20']);
});

test('a command submitted while a flush takes its batch belongs to the next flush', async () => {
  const scene = new Scene();
  scene.onDepart = (shard) => {
    scene.onDepart = () => {};
    scene.command(shard);
  };
  await scene.flush('a');
  assert.deepEqual(scene.lines(), ['flush a1']);
  await scene.outcomes(OK);
  assert.deepEqual(scene.lines(), ['a ok', 'reply a1', 'flush a2']);
  await scene.outcomes(OK);
  assert.deepEqual(scene.lines(), ['a ok', 'reply a2']);
});

test('commands submitted by released replies form one next flush', async () => {
  const scene = new Scene();
  scene.onReply = (command) => {
    if (command.endsWith('1')) scene.command('a', 'b');
  };
  await scene.flush('a', 'b');
  await scene.outcomes(OK, OK);
  assert.deepEqual(scene.lines(), ['flush a1 b1', 'a ok', 'b ok', 'reply a1', 'reply b1', 'flush a2,a3 b2,b3']);
  await scene.outcomes(OK, OK);
  assert.deepEqual(scene.lines(), ['a ok', 'b ok', 'reply a2', 'reply a3', 'reply b2', 'reply b3']);
});

test('commands submitted by replies join neither the full flush nor its shards', async () => {
  const scene = new Scene();
  scene.onReply = (command) => {
    if (command === 'a1') scene.command('a', 'b');
  };
  await scene.flush('a');
  scene.command(...'a'.repeat(16));
  await scene.outcomes(OK);
  const full = Array.from({ length: 16 }, (_, i) => `a${i + 2}`).join(',');
  assert.deepEqual(scene.lines(), ['flush a1', 'a ok', `flush ${full}`, 'reply a1', 'flush b1']);
});

test('a reply that submits a command during an outage does not shorten the pause', async () => {
  const scene = new Scene();
  scene.onReply = () => scene.command('a');
  await scene.flush('a', 'b');
  await scene.outcomes(OK, FAILED);
  await scene.outcomes(FAILED, FAILED);
  scene.command('a');
  await scene.endTurns();
  assert.deepEqual(scene.lines(), [
    'flush a1 b1',
    ...['a ok', 'b failed', 'reply a1'],
    'flush b1 a2',
    ...['b failed', 'a failed', 'pause 20'],
  ]);
});

test('a command submitted from onQuiet starts a flush beside the pending one', async () => {
  const scene = new Scene();
  scene.onQuiet = () => {
    scene.onQuiet = () => {};
    scene.command('a', 'b');
  };
  await scene.flush('a');
  assert.deepEqual(scene.lines(), ['flush a1', 'flush b1']);
});

test('a second flush takes other shards, and a third waits', async () => {
  const scene = new Scene();
  await scene.flush('a');
  await scene.flush('a', 'b');
  await scene.flush('c');
  assert.deepEqual(scene.lines(), ['flush a1', 'flush b1']);
  await scene.outcomesOf('b', OK);
  assert.deepEqual(scene.lines(), ['b ok', 'reply b1', 'flush c1']);
  await scene.outcomesOf('a', OK);
  assert.deepEqual(scene.lines(), ['a ok', 'reply a1', 'flush a2']);
});

test('commands of shards in flushes start no empty flush', async () => {
  const scene = new Scene();
  await scene.flush('a');
  await scene.flush('b');
  await scene.outcomesOf('b', OK);
  await scene.flush(...'a'.repeat(20));
  assert.deepEqual(scene.lines(), ['flush a1', 'flush b1', 'b ok', 'reply b1']);
});

test('two failed flushes share one pause, then repeat the same commands together', async () => {
  const scene = new Scene();
  await scene.flush('a');
  await scene.flush('b');
  scene.command('a', 'b');
  await scene.outcomesOf('b', FAILED);
  await scene.outcomesOf('a', FAILED);
  assert.deepEqual(scene.lines(), ['flush a1', 'flush b1', 'b failed', 'pause 20', 'a failed']);
  await scene.endPause();
  assert.deepEqual(scene.lines(), ['flush a1 b1']);
  await scene.outcomes(OK, OK);
  assert.deepEqual(scene.lines(), ['a ok', 'b ok', 'reply a1', 'reply b1', 'flush a2 b2']);
});

test('two flushes that fail together lengthen the next pause once', async () => {
  const scene = new Scene();
  await scene.flush('a');
  await scene.flush('b');
  await scene.outcomesOf('b', FAILED);
  await scene.outcomesOf('a', FAILED);
  await scene.endPause();
  await scene.outcomes(FAILED, FAILED);
  const pauses = scene.lines().filter((line) => line.startsWith('pause'));
  assert.deepEqual(pauses, ['pause 20', 'pause 40']);
});

test('a pause that ends while its shards are in a flush changes nothing', async () => {
  const scene = new Scene();
  await scene.flush('a');
  await scene.flush('b');
  await scene.outcomesOf('a', FAILED);
  await scene.endPause();
  await scene.outcomesOf('a', FAILED);
  await scene.endPause();
  await scene.outcomesOf('b', FAILED);
  const pauses = scene.lines().filter((line) => line.startsWith('pause'));
  assert.deepEqual(pauses, ['pause 20', 'pause 40', 'pause 80']);
});

test('a flush that was about to start leaves out a shard that pauses', async () => {
  const scene = new Scene();
  await scene.flush('a');
  scene.command('b');
  await scene.outcomesWithinTurn(FAILED);
  await scene.endTurns();
  assert.deepEqual(scene.lines(), ['flush a1', 'a failed', 'pause 20', 'flush b1']);
  await scene.endPause();
  assert.deepEqual(scene.lines(), ['flush a1']);
});

test('a flush that succeeds during a pause neither ends nor repeats it', async () => {
  const scene = new Scene();
  await scene.flush('a');
  await scene.flush('b');
  await scene.outcomesOf('a', FAILED);
  await scene.flush('b');
  await scene.outcomesOf('b', OK);
  await scene.endTurns();
  assert.deepEqual(scene.lines(), ['flush a1', 'flush b1', 'a failed', 'pause 20', 'b ok', 'reply b1', 'flush b2']);
  await scene.endPause();
  assert.deepEqual(scene.lines(), ['flush a1']);
});

test('every command is answered once, in order, after any course of outcomes', async () => {
  const command = fc.constantFrom('a', 'b', 'c', 'd').map((shard) => ({ type: 'command', shard }) as const);
  const endTurns = fc.constant({ type: 'end-turns' } as const);
  const outcome = fc.record({
    type: fc.constant('outcome' as const),
    isNewest: fc.boolean(),
    isFailed: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
  });
  const course = fc.array(fc.oneof(command, command, endTurns, outcome), { maxLength: 80 });
  await fc.assert(
    fc.asyncProperty(course, async (steps) => {
      const scene = new Scene();
      for (const step of steps) {
        if (step.type === 'command') scene.command(step.shard);
        else if (step.type === 'end-turns') await scene.endTurns();
        else await scene.proceed(step.isNewest, step.isFailed);
      }
      while (await scene.proceed(false, []));
      const replies = scene.lines().filter((line) => line.startsWith('reply '));
      for (const [shard, count] of scene.commandCounts()) {
        const own = replies.filter((line) => line.startsWith(`reply ${shard}`));
        assert.deepEqual(
          own,
          Array.from({ length: count }, (_, i) => `reply ${shard}${i + 1}`),
        );
      }
    }),
    { numRuns: 200 },
  );
});

import { assert, must } from '../base/assert.js';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Metric } from '../base/metric.js';
import type { Replier } from '../base/replier.js';
import { RestartBudget } from '../base/restart-budget.js';
import { SteadyClock } from '../base/steady-clock.js';
import { type CallbackCodec, type CallbackReply, MALFORMED } from '../callback/callback-codec.js';
import type { SentCallback } from '../callback/sent-callback.js';
import { GroupCommit } from '../shard/group-commit.js';
import { compareLsn, formatLsn, type Lsn } from '../shard/log/lsn.js';
import { ATTEMPTS_AT_START, isPermanent, type Patience, patiently } from '../shard/log/patience.js';
import { type Recovered, type RecoveryDeps, recover } from '../shard/log/recovery.js';
import { RecoveryError, ShortLogError } from '../shard/log/recovery-error.js';
import {
  describeOwner,
  FencedError,
  fenceAgain,
  headOf,
  ownerOf,
  sealFenceOver,
  type TakeOverDeps,
} from '../shard/log/take-over.js';
import type { EntryFormat, Head, Owner, Position, SealedEntry, Takeover, Wal } from '../shard/log/wal.js';
import { maybeMissing, ROUNDS_MAX, writeFence } from '../shard/log/write-fence.js';
import { Shard, type ShardLimits, type ShardMeasures } from '../shard/shard.js';
import type { ShardObserver } from '../shard/shard-observer.js';
import type { SnapshotPolicy } from '../shard/snapshot/snapshot-policy.js';
import type { SnapshotFormat, SnapshotStore } from '../shard/snapshot/snapshot-store.js';
import { type NewestSnapshot, type Pace, type SnapshotResult, Snapshotter } from '../shard/snapshot/snapshotter.js';
import type { Command } from '../wallet/command.js';
import type { Rules } from '../wallet/decide/rules.js';
import type { Answer } from '../wallet/decision.js';
import type { Query, QueryResult } from '../wallet/query.js';
import type { BusyAnswer } from '../wallet/rejection.js';
import { ClockWatch } from './clock-watch.js';
import { OrphanKeeper } from './orphan-keeper.js';
import { shardOf } from './placement.js';
import type { ShardStatus, ThreadShards } from './shards.js';
import { SnapshotQueue } from './snapshot-queue.js';

/** What a host tells about its work, beside that of its shards. */
export interface HostObserver extends ShardObserver {
  snapshotEnded(result: SnapshotResult): void;
  /** Another owner has the shard's log. */
  fenced(shard: number): void;
}

/** How one of its shards is doing. */
export interface HostMeasures extends ShardMeasures {
  readonly snapshot: NewestSnapshot | undefined;
}

export interface HostDeps {
  readonly codec: CallbackCodec;
  /** Shards of the store; this thread may have fewer. */
  readonly shardCount: number;
  /** Throws a `RecoveryError` when the store is another one than the process was started on. */
  readonly checkStore: () => Promise<void>;
  /** These measures, and what the thread has counted. */
  readonly metrics: (shards: readonly HostMeasures[]) => readonly Metric[];
  readonly onClose: () => Promise<void>;
  readonly wal: Wal;
  readonly snapshots: SnapshotStore;
  readonly format: EntryFormat;
  readonly snapshotFormat: SnapshotFormat;
  readonly policy: SnapshotPolicy;
  /** 16 random hexadecimal digits. */
  readonly newSnapshotId: () => string;
  /** What this node's record says it has acknowledged. */
  readonly acknowledged: (shard: number) => Position | undefined;
  readonly genesis: (shard: number) => Head;
  readonly clock: Clock;
  /** Wall clock less monotonic clock, as the process believes. */
  readonly clockOffsetMs: number;
  readonly log: Logger;
  readonly rules: Rules;
  readonly limits: ShardLimits;
  readonly memory: { readonly isFull: boolean };
  readonly observer: HostObserver;
  readonly owner: Owner;
  /** 8 random hexadecimal digits: begin the nonce of each fence of this process, and of no other one. */
  readonly ownerTag: string;
  readonly newNonce: () => string;
  /** Another process took a shard over: this one must end and not fight back. */
  readonly onFenced: (shard: number, takenBy: string) => void;
  /** Puts what the log has lost for good where people find it; resolves to the place. */
  readonly writeOrphans: (shard: number, entries: readonly SealedEntry[]) => Promise<string>;
  /** Bytes of confirmed entries that are kept per shard, for a store that can lose them. */
  readonly recentBytesMax: number;
}

/**
 * The shards of a thread fly in two groups: while the store makes the one durable the thread decides and answers for the
 * other. Measured inline with 128 connections: 6 % more than all shards in one flight; four groups are no better.
 */
const FLIGHTS = 2;
const SWEEP_MS = 1000;
/** A sweep comes round to every player about once an hour. */
const SWEEPS_PER_PASS = 3600;
const DRAIN_POLL_MS = 5;
const SNAPSHOT_ATTEMPTS = 5;
/** What was missing is there again as soon as it is asked for: another look will do. */
const SHORT_LOG_MS = 200;

/** The shards of one thread: their recovery, their rounds, their restarts. Its observer does the counting. */
export class ShardHost implements ThreadShards {
  private readonly shards = new Map<number, Shard>();
  /** Whoever starts the process waits for it, and wants to hear that the store is away. */
  private readonly atStart: RecoveryDeps & TakeOverDeps;
  /** Later nobody does: bad weather is waited out, however long. */
  private readonly later: RecoveryDeps & TakeOverDeps;
  private readonly snapshots: SnapshotQueue;
  private readonly orphans: OrphanKeeper;
  private readonly restarts = new Map<number, RestartBudget>();
  private sweeper: NodeJS.Timeout | undefined = undefined;
  /** What the logs get. */
  private readonly clock: Clock;
  private readonly clockWatch: ClockWatch;

  constructor(
    shardIds: readonly number[],
    private readonly deps: HostDeps,
  ) {
    const { wal, format, log, rules, limits, memory, observer, owner, newNonce, recentBytesMax } = deps;
    const clock = new SteadyClock(deps.clock, deps.clockOffsetMs);
    this.clock = clock;
    this.clockWatch = new ClockWatch(deps.clock, log);
    this.orphans = new OrphanKeeper(deps);
    const groups = Array.from(
      { length: FLIGHTS },
      () => new GroupCommit(wal, setImmediate, setTimeout, () => clock.monotonicMs()),
    );
    const { snapshots, snapshotFormat, acknowledged } = deps;
    const patience: Patience = { attemptsMax: ATTEMPTS_AT_START, log, delay };
    const recovery = { wal, snapshots, format, snapshotFormat, clock, yieldTurn, recentBytesMax, acknowledged };
    this.atStart = { ...recovery, ...patience, owner, newNonce };
    this.later = { ...this.atStart, attemptsMax: Number.POSITIVE_INFINITY };
    const snapshotter = new Snapshotter({
      ...patience,
      attemptsMax: SNAPSHOT_ATTEMPTS,
      snapshots,
      snapshotFormat,
      clock,
      policy: deps.policy,
      newId: deps.newSnapshotId,
      yieldTurn,
    });
    this.snapshots = new SnapshotQueue(this.shards, { ...deps, snapshotter, clock });
    for (const [i, id] of shardIds.entries()) {
      const group = groups[i % FLIGHTS] as GroupCommit;
      const shard = new Shard(id, {
        format,
        clock,
        log,
        rules,
        limits,
        memory,
        observer,
        requestRound: () => group.request(),
        onFailed: (failed) => void this.restart(failed),
        onFenced: (fenced, head) => void this.fenced(fenced, head),
        onDiverged: (diverged) => void this.orphans.keep(diverged),
      });
      this.shards.set(id, shard);
      this.restarts.set(id, new RestartBudget());
      group.join(shard);
    }
  }

  async start(fences: readonly Takeover[]): Promise<void> {
    await this.deps.checkStore();
    await Promise.all(fences.map((fenced) => this.recover(fenced, this.atStart)));
    this.begin();
  }

  private begin(): void {
    this.sweeper = setInterval(() => this.sweep(), SWEEP_MS);
    this.sweeper.unref();
  }

  /**
   * For a thread that takes the place of one that died. It takes over from this process only: where another owner came
   * meanwhile, that one stays. `told` are the newest entries whose answers have left this process: a log that ends
   * before them has lost what nobody can put back; then it rejects. Bad weather is waited out.
   */
  async resume(told: ReadonlyMap<number, Lsn>): Promise<void> {
    await patiently('find the store', this.later, () => this.deps.checkStore());
    const heads = new Map<number, Head>();
    for (const shard of this.shards.values()) {
      if (shard.state === 'starting') heads.set(shard.id, await headOf(shard.id, this.later));
    }
    for (const [shard, head] of heads) {
      if (!this.isOurs(head)) await this.giveUp(shard, head);
      const newest = told.get(shard);
      if (newest !== undefined && compareLsn(head.lsn, newest) < 0) {
        throw new RecoveryError(
          `the log of shard ${shard} ends at ${formatLsn(head.lsn)}, but ${formatLsn(newest)} has been answered`,
        );
      }
    }
    try {
      for (const fenced of await fenceAgain(heads, this.later)) await this.recover(fenced, this.later);
      this.begin();
    } catch (error) {
      if (!(error instanceof FencedError)) throw error;
      // The last append of the thread that died can still arrive; then its head is the one to go on from.
      if (!this.isOurs(error.head)) await this.giveUp(error.shard, error.head);
      await this.resume(told);
    }
  }

  private isOurs(head: Head): boolean {
    return head.nonce.startsWith(this.deps.ownerTag);
  }

  private async giveUp(shard: number, head: Head): Promise<never> {
    this.deps.onFenced(shard, await this.nameOwner(shard, head));
    throw new FencedError(shard, head);
  }

  carryOut(callback: SentCallback, replier: Replier<CallbackReply>): void {
    const elsewhere = this.maybeCarryOut(callback, replier);
    assert(elsewhere === undefined, 'a thread that is asked for all shards has them');
  }

  maybeCarryOut({ endpoint, text, deadlineMs }: SentCallback, replier: Replier<CallbackReply>): number | undefined {
    const { codec, shardCount } = this.deps;
    const request = codec.read(endpoint, text);
    // The waiting replier keeps these, and not what was read.
    const { id, productId, currency, username, command } = request;
    if (command === undefined) {
      replier.reply(codec.reply(request, MALFORMED));
      return undefined;
    }
    const shard = this.shards.get(shardOf(username, shardCount));
    if (shard === undefined) return shardOf(username, shardCount);
    shard.submit({
      type: 'command',
      command,
      deadlineMs,
      replier: {
        reply: (answer, readyMs) => replier.reply(codec.reply({ id, productId, currency, username }, answer), readyMs),
      },
    });
    return undefined;
  }

  execute(shard: number, command: Command, deadlineMs: number, replier: Replier<Answer>): void {
    this.mustShard(shard).submit({ type: 'command', command, deadlineMs, replier });
  }

  ask(shard: number, query: Query, deadlineMs: number, replier: Replier<QueryResult | BusyAnswer>): void {
    this.mustShard(shard).submit({ type: 'query', query, deadlineMs, replier });
  }

  private mustShard(shard: number): Shard {
    return must(this.shards.get(shard), 'whoever asks for a shard has looked where it is');
  }

  status(): ShardStatus[] {
    return [...this.shards.values()].map((shard) => ({
      shard: shard.id,
      state: shard.state,
      players: shard.playerCount,
      waiting: shard.waiting,
      head: shard.durableHead,
      reason: shard.reason,
    }));
  }

  measures(): HostMeasures[] {
    return [...this.shards.values()].map(({ id, measures }) => ({
      ...measures,
      snapshot: this.snapshots.newestOf(id),
    }));
  }

  metrics(): readonly Metric[] {
    return this.deps.metrics(this.measures());
  }

  /** The newest durable entry of each shard. */
  durable(): [shard: number, lsn: Lsn][] {
    return [...this.shards.values()].flatMap(({ id, durableHead }) =>
      durableHead === undefined ? [] : [[id, durableHead.lsn]],
    );
  }

  takeSnapshots(pace: Pace): Promise<readonly SnapshotResult[]> {
    return this.snapshots.takeAll(pace);
  }

  async close(): Promise<void> {
    clearInterval(this.sweeper);
    await this.snapshots.close();
    await this.orphans.close();
    await this.deps.onClose();
  }

  async drain(timeoutMs: number): Promise<boolean> {
    clearInterval(this.sweeper);
    const endMs = performance.now() + timeoutMs;
    while (this.status().some((shard) => shard.waiting > 0)) {
      if (performance.now() >= endMs) return false;
      await delay(DRAIN_POLL_MS);
    }
    return true;
  }

  /** A log that cannot be continued stops its shard; the others serve. Rejects in bad weather. */
  private async recover(fenced: Takeover, deps: RecoveryDeps & TakeOverDeps): Promise<void> {
    const shard = must(this.shards.get(fenced.shard), 'a fence is for a shard of this thread');
    try {
      const recovered = await this.rebuilt(shard, fenced, deps);
      shard.open(recovered);
      this.budgetOf(shard).recovered(this.deps.clock.monotonicMs());
      this.snapshots.recovered(shard.id, recovered);
    } catch (error) {
      if (!isPermanent(error)) throw error;
      const { message } = error as Error;
      shard.stop(message);
      // Whoever took the log over meanwhile has new snapshots by now, and trims the log: nothing is lost.
      const head = await headOf(shard.id, deps);
      if (head.lsn.epoch >= fenced.entry.head.lsn.epoch && !this.isOurs(head)) return await this.fenced(shard, head);
      this.deps.log.error({ shard: shard.id, error: message }, 'shard cannot recover: it stays stopped');
    }
  }

  /** A shard that failed an assertion recovers by itself, once; twice in a minute means that it would go on so. */
  private async restart(shard: Shard): Promise<void> {
    if (!this.budgetOf(shard).failed(this.deps.clock.monotonicMs())) {
      shard.stop('it failed twice in a minute');
      this.deps.log.error({ shard: shard.id }, 'shard failed twice in a minute: it stays stopped');
      await this.orphans.keep(shard);
      return;
    }
    try {
      // The head this owner knows, or a later one of its own: a foreign one must not be fenced over.
      const known = must(shard.durableHead, 'a shard that served knows its head');
      const found = await headOf(shard.id, this.later);
      const previous = this.isOurs(found) && found.lsn.sequence > known.lsn.sequence ? found : known;
      const fenced = sealFenceOver(shard.id, previous, shard.timeMs, this.later);
      await this.writeFence(shard, fenced, this.later);
      await this.recover(fenced, this.later);
    } catch (error) {
      const isTail = error instanceof FencedError && this.isOurs(error.head);
      const message = isTail
        ? `its log ends at ${formatLsn(error.head.lsn)}, and has lost more of its newest entries than are kept here`
        : (error as Error).message;
      shard.stop(message);
      if (error instanceof FencedError && !isTail) return this.fenced(shard, error.head);
      this.deps.log.error({ shard: shard.id, error: message }, 'shard cannot recover: it stays stopped');
    }
    if (shard.state === 'stopped') await this.orphans.keep(shard);
  }

  private budgetOf({ id }: Shard): RestartBudget {
    return must(this.restarts.get(id), 'each shard has its budget');
  }

  /** A store that fails over meanwhile can lose the fence, and what was before it: it goes in again. */
  private async rebuilt(shard: Shard, fenced: Takeover, deps: RecoveryDeps & TakeOverDeps): Promise<Recovered> {
    for (let round = 1; ; round++) {
      try {
        return await recover(fenced, this.deps.genesis(shard.id), deps);
      } catch (error) {
        if (!isPermanent(error) || round === ROUNDS_MAX) throw error;
        const missing = maybeMissing(await headOf(shard.id, deps), fenced, shard);
        if (missing === undefined) throw error;
        if (missing.length > 0) await this.writeFence(shard, fenced, deps);
        else if (error instanceof ShortLogError) await deps.delay(SHORT_LOG_MS);
        else throw error;
      }
    }
  }

  private async writeFence(shard: Shard, fenced: Takeover, deps: TakeOverDeps): Promise<void> {
    const lost = await writeFence(fenced, shard, deps);
    if (lost === 0) return;
    this.deps.log.warn({ shard: shard.id, lost }, 'what the store had lost went in again');
    this.deps.observer.healed(shard.id, lost);
  }

  private async fenced(shard: Shard, head: Head): Promise<void> {
    this.deps.observer.fenced(shard.id);
    const takenBy = await this.nameOwner(shard.id, head);
    // Who takes one takes all: also those that have not noticed yet.
    await this.keepOrphans();
    this.deps.onFenced(shard.id, takenBy);
  }

  private async nameOwner(shard: number, head: Head): Promise<string> {
    return await ownerOf(shard, head, this.deps).then(
      describeOwner,
      (error: Error) => `an unknown owner (${error.message})`,
    );
  }

  async keepOrphans(): Promise<void> {
    await Promise.all([...this.shards.values()].map((shard) => this.orphans.keep(shard)));
  }

  private sweep(): void {
    // Also where nobody asks for the time: a jump is believed when it has been watched.
    this.clock.now();
    for (const shard of this.shards.values()) shard.confirmOwnership();
    this.snapshots.takeDue();
    if (!this.clockWatch.isTrusted()) return;
    for (const shard of this.shards.values()) shard.forgetSome(Math.ceil(shard.playerCount / SWEEPS_PER_PASS));
  }
}

function yieldTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

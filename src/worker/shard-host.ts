import { must } from '../base/assert.js';
import type { Clock, Logger, Replier } from '../base/ports.js';
import { GroupCommit } from '../shard/group-commit.js';
import { compareLsn, formatLsn, type Lsn } from '../shard/lsn.js';
import { findOrphans } from '../shard/orphans.js';
import type { EntryFormat, Fenced, Head, Owner, SealedEntry, Wal } from '../shard/ports.js';
import {
  FencedError,
  fenceAgain,
  findOwner,
  headOf,
  isFinal,
  type RecoveryDeps,
  RecoveryError,
  replay,
} from '../shard/recovery.js';
import { type BusyAnswer, Shard, type ShardLimits, type ShardObserver } from '../shard/shard.js';
import type { Command } from '../wallet/command.js';
import type { Answer } from '../wallet/decision.js';
import type { Query, QueryResult } from '../wallet/query.js';
import type { Rules } from '../wallet/rules.js';
import type { ShardStatus, Shards } from './shards.js';

export interface HostDeps {
  readonly wal: Wal;
  readonly format: EntryFormat;
  readonly genesis: (shard: number) => Head;
  readonly clock: Clock;
  readonly log: Logger;
  readonly rules: Rules;
  readonly limits: ShardLimits;
  readonly memory: { readonly isFull: boolean };
  readonly observer: ShardObserver;
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

const RESTARTS_WINDOW_MS = 60_000;
const SWEEP_MS = 1000;
/** A sweep comes round to every player about once an hour. */
const SWEEPS_PER_PASS = 3600;
const DRAIN_POLL_MS = 5;
const WEATHER_MS = 1000;
const JUMP_MS = 60_000;
const JUMP_REST_MS = 3_600_000;

/** The shards of one thread: their recovery, their rounds, their restarts. */
export class ShardHost implements Shards {
  private readonly shards = new Map<number, Shard>();
  private readonly commits: GroupCommit;
  private readonly recovery: RecoveryDeps;
  private readonly failures = new Map<number, number[]>();
  /** Orphans on their way to their files, by shard: this process must not end before they are there. */
  private readonly kept = new Map<number, Promise<void>>();
  private sweeper: NodeJS.Timeout | undefined = undefined;
  /** Wall clock less monotonic clock: constant, unless the wall clock is set. */
  private clockOffsetMs: number;
  private forgetsFromMs: number;

  constructor(
    shardIds: readonly number[],
    private readonly deps: HostDeps,
  ) {
    const { wal, format, clock, log, rules, limits, memory, observer, owner, newNonce, recentBytesMax } = deps;
    this.clockOffsetMs = clock.now() - clock.monotonicMs();
    this.forgetsFromMs = clock.monotonicMs() + JUMP_REST_MS;
    this.commits = new GroupCommit(wal, setImmediate, setTimeout, () => clock.monotonicMs());
    this.recovery = { wal, format, clock, log, owner, newNonce, recentBytesMax, yieldTurn, delay };
    for (const id of shardIds) {
      const shard = new Shard(id, {
        format,
        clock,
        log,
        rules,
        limits,
        memory,
        observer,
        requestRound: () => this.commits.request(),
        onFailed: (failed) => void this.restart(failed),
        onFenced: (fenced, head) => void this.fenced(fenced, head),
        onDiverged: (diverged) => void this.keepOrphansOf(diverged),
      });
      this.shards.set(id, shard);
      this.commits.join(shard);
    }
  }

  async start(fences: readonly Fenced[]): Promise<void> {
    await Promise.all(fences.map((fenced) => this.recover(fenced)));
    this.sweeper = setInterval(() => this.sweep(), SWEEP_MS);
    this.sweeper.unref();
  }

  /**
   * For a thread that takes the place of one that died. It takes over from this process only: where another owner came
   * meanwhile, that one stays. `told` are the newest entries whose answers have left this process: a log that ends
   * before them has lost what nobody can put back. Rejects then; in bad weather it may be called again.
   */
  async resume(told: ReadonlyMap<number, Lsn>): Promise<void> {
    const heads = new Map<number, Head>();
    for (const shard of this.shards.values()) {
      if (shard.state === 'starting') heads.set(shard.id, await headOf(shard.id, this.recovery));
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
      await this.start(await fenceAgain(heads, this.recovery));
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

  execute(shard: number, command: Command, deadlineMs: number, replier: Replier<Answer>): void {
    this.shards.get(shard)?.submit({ type: 'command', command, deadlineMs, replier });
  }

  ask(shard: number, query: Query, deadlineMs: number, replier: Replier<QueryResult | BusyAnswer>): void {
    this.shards.get(shard)?.submit({ type: 'query', query, deadlineMs, replier });
  }

  status(): ShardStatus[] {
    return [...this.shards.values()].map((shard) => ({
      shard: shard.id,
      state: shard.state,
      players: shard.playerCount,
      waiting: shard.waiting,
      lsn: shard.durableHead && formatLsn(shard.durableHead.lsn),
    }));
  }

  /** The newest durable entry of each shard. */
  durable(): [shard: number, lsn: Lsn][] {
    return [...this.shards.values()].flatMap(({ id, durableHead }) =>
      durableHead === undefined ? [] : [[id, durableHead.lsn]],
    );
  }

  async close(): Promise<void> {
    clearInterval(this.sweeper);
    await Promise.all(this.kept.values());
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

  private async recover(fenced: Fenced): Promise<void> {
    const recovered = await replay(fenced, this.deps.genesis(fenced.shard), this.recovery);
    this.shards.get(fenced.shard)?.open(recovered);
  }

  /** A shard that failed an assertion recovers by itself, once; twice in a minute means that it would go on so. */
  private async restart(shard: Shard): Promise<void> {
    const nowMs = this.deps.clock.monotonicMs();
    const recent = (this.failures.get(shard.id) ?? []).filter((atMs) => atMs > nowMs - RESTARTS_WINDOW_MS);
    this.failures.set(shard.id, [...recent, nowMs]);
    if (recent.length > 0) {
      shard.stop();
      this.deps.log.error({ shard: shard.id }, 'shard failed twice in a minute: it stays stopped');
      return;
    }
    for (;;) {
      try {
        // The head this owner knows, or a later one of its own: a foreign one must not be fenced over.
        const known = must(shard.durableHead, 'a shard that served knows its head');
        const found = await headOf(shard.id, this.recovery);
        const head = this.isOurs(found) && found.lsn.sequence > known.lsn.sequence ? found : known;
        for (const fenced of await fenceAgain(new Map([[shard.id, head]]), this.recovery)) await this.recover(fenced);
        return;
      } catch (error) {
        if (error instanceof FencedError && !this.isOurs(error.head)) {
          shard.stop();
          return this.fenced(shard, error.head);
        }
        const { message } = error as Error;
        if (isFinal(error)) {
          shard.stop();
          await this.keepOrphansOf(shard);
          this.deps.log.error({ shard: shard.id, error: message }, 'shard cannot recover: it stays stopped');
          return;
        }
        this.deps.log.warn({ shard: shard.id, error: message }, 'shard cannot recover yet; trying again');
        await delay(WEATHER_MS);
      }
    }
  }

  private async fenced(shard: Shard, head: Head): Promise<void> {
    const takenBy = await this.nameOwner(shard.id, head);
    // Who takes one takes all: also those that have not noticed yet.
    await this.keepOrphans();
    this.deps.onFenced(shard.id, takenBy);
  }

  private async nameOwner(shard: number, head: Head): Promise<string> {
    return await findOwner(this.deps.wal, this.deps.format, shard, head).catch(
      (error: Error) => `an unknown owner (${error.message})`,
    );
  }

  /** What this owner has told and its logs do not hold any more must not end with this process. */
  async keepOrphans(): Promise<void> {
    await Promise.all([...this.shards.values()].map((shard) => this.keepOrphansOf(shard)));
  }

  private keepOrphansOf(shard: Shard): Promise<void> {
    const kept = this.kept.get(shard.id) ?? this.writeOrphans(shard);
    this.kept.set(shard.id, kept);
    return kept;
  }

  private async writeOrphans(shard: Shard): Promise<void> {
    const { wal, format, log } = this.deps;
    const orphans = await findOrphans(wal, format, shard.id, shard.recentEntries);
    if (orphans.length === 0) return;
    try {
      const path = await this.deps.writeOrphans(shard.id, orphans);
      log.error(
        { shard: shard.id, entries: orphans.length, path },
        'answered entries that the log has lost are kept here',
      );
    } catch (error) {
      const bytes = orphans.map((entry) => entry.bytes.toString('base64'));
      const { message } = error as Error;
      log.error(
        { shard: shard.id, error: message, bytes },
        'answered entries that the log has lost, and no file to keep them',
      );
    }
  }

  /**
   * A clock that has just jumped must not decide what is old: nothing is forgotten for an hour after a jump, which is
   * how long somebody or something has to set it right.
   */
  private sweep(): void {
    const { clock, log } = this.deps;
    const sinceStart = clock.now() - clock.monotonicMs();
    const jumpMs = sinceStart - this.clockOffsetMs;
    this.clockOffsetMs = sinceStart;
    if (Math.abs(jumpMs) > JUMP_MS) {
      this.forgetsFromMs = clock.monotonicMs() + JUMP_REST_MS;
      log.warn(
        { jumpMs: Math.round(jumpMs) },
        'the clock of this machine has jumped: nothing is forgotten for an hour',
      );
    }
    for (const shard of this.shards.values()) shard.confirmOwnership();
    if (clock.monotonicMs() < this.forgetsFromMs) return;
    for (const shard of this.shards.values()) shard.forgetSome(Math.ceil(shard.playerCount / SWEEPS_PER_PASS));
  }
}

function yieldTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

import { must } from '../base/assert.js';
import type { Clock, Logger, Replier } from '../base/ports.js';
import { GroupCommit } from '../shard/group-commit.js';
import { formatLsn } from '../shard/lsn.js';
import { findOrphans } from '../shard/orphans.js';
import type { EntryFormat, Fenced, Head, Owner, SealedEntry, Wal } from '../shard/ports.js';
import { FencedError, fenceAgain, findOwner, headOf, type RecoveryDeps, replay } from '../shard/recovery.js';
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
  readonly keepOrphans: (shard: number, entries: readonly SealedEntry[]) => Promise<string>;
}

const RESTARTS_WINDOW_MS = 60_000;
const SWEEP_MS = 1000;
/** A sweep comes round to every player about once an hour. */
const SWEEPS_PER_PASS = 3600;
const DRAIN_POLL_MS = 5;
const JUMP_MS = 60_000;
const JUMP_REST_MS = 3_600_000;

/** The shards of one thread: their recovery, their rounds, their restarts. */
export class ShardHost implements Shards {
  private readonly shards = new Map<number, Shard>();
  private readonly commits: GroupCommit;
  private readonly recovery: RecoveryDeps;
  private readonly failures = new Map<number, number[]>();
  private sweeper: NodeJS.Timeout | undefined = undefined;
  /** Wall clock less monotonic clock: constant, unless the wall clock is set. */
  private clockOffsetMs: number;
  private forgetsFromMs: number;

  constructor(
    shardIds: readonly number[],
    private readonly deps: HostDeps,
  ) {
    const { wal, format, clock, log, rules, limits, memory, observer, owner, newNonce } = deps;
    this.clockOffsetMs = clock.now() - clock.monotonicMs();
    this.forgetsFromMs = clock.monotonicMs() + JUMP_REST_MS;
    this.commits = new GroupCommit(wal, setImmediate, setTimeout);
    this.recovery = { wal, format, clock, log, owner, newNonce, yieldTurn, delay };
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
        onDiverged: (diverged) => void this.keepOrphans(diverged),
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
   * meanwhile, that one stays.
   */
  async resume(): Promise<void> {
    const heads = new Map<number, Head>();
    for (const id of this.shards.keys()) heads.set(id, await headOf(id, this.recovery));
    for (const [shard, head] of heads) {
      if (head.nonce.startsWith(this.deps.ownerTag)) continue;
      this.deps.onFenced(shard, await this.nameOwner(shard, head));
      throw new FencedError(shard, head);
    }
    await this.start(await fenceAgain(heads, this.recovery));
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

  async close(): Promise<void> {
    clearInterval(this.sweeper);
  }

  async drain(timeoutMs: number): Promise<boolean> {
    clearInterval(this.sweeper);
    const endMs = this.deps.clock.now() + timeoutMs;
    while (this.status().some((shard) => shard.waiting > 0)) {
      if (this.deps.clock.now() >= endMs) return false;
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
    const nowMs = this.deps.clock.now();
    const recent = (this.failures.get(shard.id) ?? []).filter((atMs) => atMs > nowMs - RESTARTS_WINDOW_MS);
    this.failures.set(shard.id, [...recent, nowMs]);
    if (recent.length > 0) {
      shard.stop();
      this.deps.log.error({ shard: shard.id }, 'shard failed twice in a minute: it stays stopped');
      return;
    }
    try {
      // The head this owner knows, not the one that is there: a foreign one must not be fenced over.
      const head = must(shard.ownHead(await headOf(shard.id, this.recovery)), 'a shard that served knows its head');
      const heads = new Map([[shard.id, head]]);
      for (const fenced of await fenceAgain(heads, this.recovery)) await this.recover(fenced);
    } catch (error) {
      shard.stop();
      if (error instanceof FencedError) return this.fenced(shard, error.head);
      this.deps.log.error(
        { shard: shard.id, error: (error as Error).message },
        'shard cannot recover: it stays stopped',
      );
    }
  }

  private async fenced(shard: Shard, head: Head): Promise<void> {
    const takenBy = await this.nameOwner(shard.id, head);
    await this.keepOrphans(shard);
    this.deps.onFenced(shard.id, takenBy);
  }

  private async nameOwner(shard: number, head: Head): Promise<string> {
    return await findOwner(this.deps.wal, this.deps.format, shard, head).catch(
      (error: Error) => `an unknown owner (${error.message})`,
    );
  }

  /** What this owner has told and its log does not hold any more must not end with this process. */
  private async keepOrphans(shard: Shard): Promise<void> {
    const { wal, format, log } = this.deps;
    const orphans = await findOrphans(wal, format, shard.id, shard.recentEntries);
    if (orphans.length === 0) return;
    try {
      const path = await this.deps.keepOrphans(shard.id, orphans);
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

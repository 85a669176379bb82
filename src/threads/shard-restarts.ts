import { must } from '../base/assert.js';
import type { Clock } from '../base/clock.js';
import type { Shard } from '../engine/shard.js';
import { type Recovered, type RecoveryDeps, recover } from '../log/recovery.js';
import {
  describeOwner,
  FencedError,
  fenceAgain,
  headOf,
  makeFenceOver,
  ownerOf,
  type TakeOverDeps,
} from '../log/take-over.js';
import { ATTEMPTS_MAX, findMissing, writeFence } from '../log/write-fence.js';
import { compareLsn, formatLsn, type Lsn } from '../ports/lsn.js';
import { RecoveryError, ShortLogError } from '../ports/recovery-error.js';
import { ATTEMPTS_AT_START, isPermanent, withRetries } from '../ports/retry-policy.js';
import type { Head, Takeover } from '../ports/wal.js';
import type { OrphanKeeper } from '../upkeep/orphan-keeper.js';
import type { HostedShard } from './hosted-shard.js';
import type { HostObserver, OnFenced } from './host-observer.js';

export interface RestartDeps extends Omit<RecoveryDeps & TakeOverDeps, 'attemptsMax'> {
  /** The machine's own clock, without corrections. Restart budgets measure real time, not the time of the logs. */
  readonly realClock: Clock;
  /** Checks the store. Throws a `RecoveryError` unless it is the store with which the process was started. */
  readonly checkStore: () => Promise<void>;
  readonly genesis: (shard: number) => Head;
  /** The prefix of the nonce of every fence by this process. No other process has the same prefix. */
  readonly ownerTag: string;
  readonly observer: HostObserver;
  readonly isShared: boolean;
  readonly onRecovered: (hosted: HostedShard, recovered: Recovered) => void;
  readonly onFenced: OnFenced;
  readonly orphans: OrphanKeeper;
}

/** Delay before a log that ends too early is read again. After a failover, missing entries usually return quickly. */
const SHORT_LOG_MS = 200;

/**
 * Recovers shards at startup, after the death of a thread and after a failed assertion. Stops a shard whose log cannot
 * be continued.
 */
export class ShardRestarts {
  /** Used at startup. The number of attempts is limited, because a start must report an outage of the store. */
  private readonly atStart: RecoveryDeps & TakeOverDeps;
  /** Used after startup. A recovery then waits until an outage ends, however long it lasts. */
  private readonly later: RecoveryDeps & TakeOverDeps;

  constructor(
    private readonly shards: ReadonlyMap<number, HostedShard>,
    private readonly deps: RestartDeps,
  ) {
    this.atStart = { ...deps, attemptsMax: ATTEMPTS_AT_START };
    this.later = { ...deps, attemptsMax: Number.POSITIVE_INFINITY };
  }

  async start(takeovers: readonly Takeover[]): Promise<void> {
    await Promise.all(takeovers.map((takeover) => this.recover(takeover, this.atStart)));
  }

  async resume(acknowledged: ReadonlyMap<number, Lsn>): Promise<void> {
    await withRetries('find the store', this.later, () => this.deps.checkStore());
    const heads = new Map<number, Head>();
    for (const { shard } of this.shards.values()) {
      if (shard.state === 'starting') heads.set(shard.id, await headOf(shard.id, this.later));
    }
    for (const [shard, head] of heads) {
      if (!this.isOurs(head)) await this.giveUp(shard, head);
      const newest = acknowledged.get(shard);
      if (newest !== undefined && compareLsn(head.lsn, newest) < 0) {
        throw new RecoveryError(
          `the log of shard ${shard} ends at ${formatLsn(head.lsn)}, but ${formatLsn(newest)} has been acknowledged`,
        );
      }
    }
    try {
      for (const takeover of await fenceAgain(heads, this.later)) await this.recover(takeover, this.later);
    } catch (error) {
      if (!(error instanceof FencedError)) throw error;
      // An append that the dead thread had sent can still arrive. The log then ends in that entry, so continue from its
      // head.
      if (!this.isOurs(error.head)) await this.giveUp(error.shard, error.head);
      await this.resume(acknowledged);
    }
  }

  private isOurs(head: Head): boolean {
    return head.nonce.startsWith(this.deps.ownerTag);
  }

  private async giveUp(shard: number, head: Head): Promise<never> {
    this.deps.onFenced(shard, await this.nameOwner(shard, head), head);
    throw new FencedError(shard, head);
  }

  /** Recovers one shard. If the shard's log cannot be continued, only this shard stops. Rejects during an outage. */
  private async recover(takeover: Takeover, deps: RecoveryDeps & TakeOverDeps): Promise<void> {
    const hosted = must(this.shards.get(takeover.shard), 'a fence is for a shard of this thread');
    const { shard } = hosted;
    try {
      const recovered = await this.rebuilt(shard, takeover, deps);
      shard.open(recovered);
      hosted.restarts.recovered(this.deps.realClock.monotonicMs());
      this.deps.onRecovered(hosted, recovered);
    } catch (error) {
      if (!isPermanent(error)) throw error;
      const { message } = error as Error;
      // Stop the shard after this read: a stopped shard may be unloaded and serve again while the read waits.
      const head = await headOf(shard.id, deps);
      shard.stop(message);
      // The reason for the failure may be another owner, which has newer snapshots and has trimmed the log. Nothing is
      // lost then.
      if (head.lsn.epoch >= takeover.entry.head.lsn.epoch && !this.isOurs(head)) return await this.fenced(hosted, head);
      this.logFailure(shard, message);
    }
  }

  /**
   * Recovers a shard once after a failed assertion. A second failure within a minute stops the shard, because further
   * restarts would probably fail as well.
   */
  async restart(hosted: HostedShard): Promise<void> {
    const { shard } = hosted;
    if (!hosted.restarts.failed(this.deps.realClock.monotonicMs())) {
      shard.stop('it failed twice in a minute');
      this.deps.log.error(
        { code: 'shard-failed-twice', shard: shard.id },
        'shard failed twice in a minute, shard stopped',
      );
      await this.deps.orphans.keep(hosted);
      return;
    }
    try {
      // Put the fence only after the head that this owner knows or a later one that it wrote itself, never after
      // another owner's head.
      const known = must(shard.durableHead, 'a shard that served knows its head');
      const found = await headOf(shard.id, this.later);
      const previous = this.isOurs(found) && found.lsn.sequence > known.lsn.sequence ? found : known;
      const takeover = makeFenceOver(shard.id, previous, shard.timeMs, this.later);
      await this.writeFence(shard, takeover, this.later);
      await this.recover(takeover, this.later);
    } catch (error) {
      const isTail = error instanceof FencedError && this.isOurs(error.head);
      const message = isTail
        ? `its log ends at ${formatLsn(error.head.lsn)}, and has lost more of its newest entries than this process keeps`
        : (error as Error).message;
      shard.stop(message);
      if (error instanceof FencedError && !isTail) return this.fenced(hosted, error.head);
      this.logFailure(shard, message);
    }
    if (shard.state === 'stopped') await this.deps.orphans.keep(hosted);
  }

  private logFailure({ id }: Shard, error: string): void {
    this.deps.log.error({ code: 'shard-recovery-failed', shard: id, error }, 'shard recovery failed, shard stopped');
  }

  /**
   * Recovers the shard. If a failover loses the fence and earlier entries in the meantime, writes them again and
   * retries.
   */
  private async rebuilt(shard: Shard, takeover: Takeover, deps: RecoveryDeps & TakeOverDeps): Promise<Recovered> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await recover(takeover, this.deps.genesis(shard.id), deps);
      } catch (error) {
        if (!isPermanent(error) || attempt === ATTEMPTS_MAX) throw error;
        const missing = findMissing(await headOf(shard.id, deps), takeover, shard);
        if (missing === undefined) throw error;
        if (missing.length > 0) await this.writeFence(shard, takeover, deps);
        else if (error instanceof ShortLogError) await deps.delay(SHORT_LOG_MS);
        else throw error;
      }
    }
  }

  private async writeFence(shard: Shard, takeover: Takeover, deps: TakeOverDeps): Promise<void> {
    const lost = await writeFence(takeover, shard, deps);
    if (lost === 0) return;
    this.deps.log.warn(
      { code: 'entries-reappended', shard: shard.id, lost },
      'store lost acknowledged entries, appending them again',
    );
    this.deps.observer.healed(shard.id, lost);
  }

  /** Handles a shard whose log has belonged to a different owner since `head`. */
  async fenced(hosted: HostedShard, head: Head): Promise<void> {
    const { shard } = hosted;
    this.deps.observer.fenced(shard.id, this.deps.clock.monotonicMs());
    const takenBy = await this.nameOwner(shard.id, head);
    if (this.deps.isShared) {
      await this.deps.orphans.keep(hosted);
      if (shard.state === 'fenced' || shard.state === 'stopped') shard.leave();
    } else {
      // Without a cluster, an owner that takes one shard takes all of them. Keep the entries of all shards, including
      // those that have not noticed the fence yet.
      await this.keepOrphans();
    }
    this.deps.onFenced(shard.id, takenBy, head);
  }

  private async nameOwner(shard: number, head: Head): Promise<string> {
    return await ownerOf(shard, head, this.later).then(
      describeOwner,
      (error: Error) => `an unknown owner (${error.message})`,
    );
  }

  async keepOrphans(): Promise<void> {
    await Promise.all([...this.shards.values()].map((hosted) => this.deps.orphans.keep(hosted)));
  }
}

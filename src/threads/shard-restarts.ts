import { must } from '../base/assert.js';
import { messageOf } from '../base/message-of.js';
import { Follower } from '../log/follower.js';
import { describeOwner, FencedError, headOf, ownerOf } from '../log/take-over.js';
import { ATTEMPTS_MAX, appendLost, type OwnTail } from '../log/write-fence.js';
import type { Lsn } from '../ports/lsn.js';
import { LossError, ShortLogError } from '../ports/recovery-error.js';
import { ATTEMPTS_AT_START, isPermanent, withRetries } from '../ports/retry-policy.js';
import type { Head, Position, Takeover } from '../ports/wal.js';
import type { OrphanKeeper } from '../upkeep/orphan-keeper.js';
import type { OnFenced } from './host-observer.js';
import type { HostedShard } from './hosted-shard.js';
import { reportHealed, type TakeShardDeps, takeShard } from './take-shard.js';

export interface RestartDeps extends Omit<TakeShardDeps, 'attemptsMax'> {
  /** Checks the store. Throws a `RecoveryError` unless it is the store with which the process was started. */
  readonly checkStore: () => Promise<void>;
  readonly genesis: (shard: number) => Head;
  /** The prefix of the nonce of every fence by this process. No other process has the same prefix. */
  readonly ownerTag: string;
  readonly isShared: boolean;
  readonly onFenced: OnFenced;
  readonly orphans: OrphanKeeper;
}

/** A log that this process owns, with the facts that the process has about it. */
interface Owned {
  /** The epoch in which the log belonged to this process. Other owners have this epoch or a later one. */
  readonly epoch: number;
  /** The fence that the process wrote at its start; undefined if a new one is needed. */
  readonly fence?: Takeover;
  /** The newest acknowledged entry. */
  readonly acknowledged?: Position | undefined;
  /** The newest durable entries. Those that the log has lost are appended again. */
  readonly kept?: OwnTail;
}

/** Delay before a log that ends too early is read again. After a failover, missing entries usually return quickly. */
const SHORT_LOG_MS = 200;

/**
 * Takes over shards that this process owns: at its start, after the death of a thread and after a failed assertion.
 * Stops a shard whose log cannot be continued.
 */
export class ShardRestarts {
  /** Used at startup. The number of attempts is limited, because a start must report an outage of the store. */
  private readonly atStart: TakeShardDeps;
  /** Used after startup. A take-over then waits until an outage ends, however long it lasts. */
  private readonly later: TakeShardDeps;

  constructor(
    private readonly shards: ReadonlyMap<number, HostedShard>,
    private readonly deps: RestartDeps,
  ) {
    this.atStart = { ...deps, attemptsMax: ATTEMPTS_AT_START };
    this.later = { ...deps, attemptsMax: Number.POSITIVE_INFINITY };
  }

  async start(fences: readonly Takeover[]): Promise<void> {
    await Promise.all(
      fences.map((fence) => {
        const hosted = must(this.shards.get(fence.shard), 'a fence is for a shard of this thread');
        return this.takeAgain(hosted, { epoch: fence.entry.head.lsn.epoch, fence }, this.atStart);
      }),
    );
  }

  async resume(acknowledged: ReadonlyMap<number, Lsn>): Promise<void> {
    await withRetries('find the store', this.later, () => this.deps.checkStore());
    const starting = [...this.shards.values()].filter(({ shard }) => shard.state === 'starting');
    await Promise.all(
      starting.map((hosted) => {
        const lsn = acknowledged.get(hosted.shard.id);
        const newest = lsn && { lsn, checksum: undefined };
        return this.takeAgain(hosted, { epoch: lsn?.epoch ?? 0, acknowledged: newest }, this.later);
      }),
    );
  }

  /**
   * Takes over a shard again after a failed assertion. A second failure within a minute stops the shard, because
   * further restarts would probably fail as well.
   */
  async restart(hosted: HostedShard): Promise<void> {
    const { shard } = hosted;
    shard.recover();
    if (hosted.restarts.failed(this.deps.realClock.monotonicMs())) {
      const known = must(shard.durableHead, 'a shard that served knows its head');
      await this.takeAgain(hosted, { epoch: known.lsn.epoch, acknowledged: known, kept: shard }, this.later);
    } else {
      shard.stop('it failed twice in a minute');
      this.deps.log.error(
        { code: 'shard-failed-twice', shard: shard.id },
        'shard failed twice in a minute, shard stopped',
      );
    }
    if (shard.state === 'stopped') await this.deps.orphans.keep(hosted);
  }

  /** Takes over one shard. If the shard's log cannot be continued, only this shard stops. Rejects during an outage. */
  private async takeAgain(hosted: HostedShard, owned: Owned, deps: TakeShardDeps): Promise<void> {
    const { shard } = hosted;
    try {
      await this.load(hosted, owned, deps);
    } catch (error) {
      if (!isPermanent(error) && deps === this.atStart) throw error;
      const message = messageOf(error);
      const head = await this.findOther(hosted, owned, error, deps);
      if (head !== undefined) {
        shard.giveUp(message);
        return await this.fenced(hosted, head);
      }
      shard.stop(message);
      const at = { code: 'shard-recovery-failed', shard: shard.id, error: message };
      this.deps.log.error(at, 'shard recovery failed, shard stopped');
    }
  }

  /**
   * The head of another owner that the error names or that the log has now. The reason for any failure may be another
   * owner, which has newer snapshots and has trimmed the log. Nothing is lost then. Called before the shard stops: a
   * stopped shard may be unloaded and serve again while the read waits.
   */
  private async findOther(
    { shard }: HostedShard,
    owned: Owned,
    error: unknown,
    deps: TakeShardDeps,
  ): Promise<Head | undefined> {
    // A later read may miss the other owner, because the store may be away by then or have lost that owner's fence.
    if (error instanceof FencedError && this.isTaken(error.head, owned)) return error.head;
    const head = await headOf(shard.id, deps).catch(() => undefined);
    return head !== undefined && this.isTaken(head, owned) ? head : undefined;
  }

  /**
   * Loads the shard and takes it over. Repeats this if a failover loses entries in the meantime, or if an append that a
   * dead thread had sent arrives.
   */
  private async load(hosted: HostedShard, owned: Owned, deps: TakeShardDeps): Promise<void> {
    const { fence, kept, acknowledged } = owned;
    const { shard } = hosted;
    const { id } = shard;
    const isHopeless = (error: unknown) => isPermanent(error) || shard.state !== 'starting';
    const taking = {
      over: undefined,
      acknowledged,
      untilMs: Number.POSITIVE_INFINITY,
      own: { tag: this.deps.ownerTag, fence },
    };
    for (let attempt = 1; ; attempt++) {
      try {
        if (kept !== undefined) reportHealed(id, await appendLost(id, kept, deps), deps);
        const checkHead = (head: Head) => {
          if (this.isTaken(head, owned)) throw new FencedError(id, head);
        };
        const log = { shard: id, genesis: this.deps.genesis(id), mayBeShort: false, fence, checkHead };
        const follower = await Follower.begin(log, deps);
        await withRetries('take over the shard', deps, () => takeShard(hosted, follower, taking, deps), isHopeless);
        return;
      } catch (error) {
        if (attempt === ATTEMPTS_MAX || !(await this.mayPass(id, error, kept, deps))) throw error;
        await deps.delay(SHORT_LOG_MS);
      }
    }
  }

  /** True if the next attempt may succeed after this error. */
  private async mayPass(
    shard: number,
    error: unknown,
    kept: OwnTail | undefined,
    deps: TakeShardDeps,
  ): Promise<boolean> {
    if (error instanceof FencedError) return this.isOurs(error.head);
    if (error instanceof ShortLogError) return true;
    if (kept === undefined || !(error instanceof LossError)) return false;
    // The store has lost entries after `appendLost` looked, and the next attempt appends them again.
    const head = await headOf(shard, deps).catch(() => undefined);
    const lost = head && kept.findEntriesAfter(head);
    return lost !== undefined && lost.length > 0;
  }

  /** True if the log has this head because another owner took it from this process. */
  private isTaken(head: Head, { epoch }: Owned): boolean {
    return head.lsn.epoch >= epoch && !this.isOurs(head);
  }

  private isOurs(head: Head): boolean {
    return head.nonce.startsWith(this.deps.ownerTag);
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

import type { EvictedKeys } from '../archive/evicted-keys.js';
import { formatLsn } from '../ports/lsn.js';
import { LossError, ShortLogError } from '../ports/recovery-error.js';
import {
  type EncodedEntry,
  type Head,
  isAt,
  isSameHead,
  type Position,
  type Takeover,
  type Wal,
} from '../ports/wal.js';
import type { LedgerTotals } from '../wallet/ledger-totals.js';
import type { Wallets } from '../wallet/state/wallets.js';
import { lossAcceptedSince } from './accepted-loss.js';
import { type LogReaderDeps, type ReadEntry, readLog } from './log-reader.js';
import { mustHaveArchive, type Recovered, type RecoveryDeps, rebuild } from './recovery.js';
import { Replay } from './replay.js';
import { FencedError, headOf, makeFenceOver, type TakeOverDeps } from './take-over.js';
import { timelyAppend } from './timely-append.js';
import { type OwnTail, writeFence } from './write-fence.js';

/** A shard whose log can be followed. */
export interface FollowedLog {
  readonly shard: number;
  /** The head of the log before its very first entry. */
  readonly genesis: Head;
  /** True if the log may lack this node's newest acknowledged entry for now, because another node may append it again. */
  readonly mayBeShort: boolean;
  /** The fence that this process has already written to the log. */
  readonly fence?: Takeover | undefined;
  /** Throws if a log with this head must not be loaded. */
  readonly checkHead?: (head: Head) => void;
}

/** A log that belongs to this process. */
export interface OwnLog {
  /** The prefix of the nonces of this process. */
  readonly tag: string;
  /** The fence that this process has already written to the log; undefined if a new one is needed. */
  readonly fence: Takeover | undefined;
}

/** Conditions under which a node may fence a shard's log. */
export interface Taking {
  /** The exact head at which the log, or the part read here, must end; undefined if any head is acceptable. */
  readonly over: Head | undefined;
  /** The newest entry known to be acknowledged. The log must contain this entry, unless it was trimmed. */
  readonly acknowledged: Position | undefined;
  /**
   * Deadline of an offer, on the monotonic clock. After the deadline, the former owner serves again, and may
   * acknowledge entries newer than `acknowledged`. Infinity without an offer.
   */
  readonly untilMs: number;
  /** Set if the log must belong to this process. An entry of another owner is then never fenced. */
  readonly own?: OwnLog;
}

/**
 * A shard that this node has taken over. `healed` is the number of lost entries that were appended again to its log.
 */
export interface TakenOver {
  readonly recovered: Recovered;
  readonly healed: number;
}

/**
 * Thrown if the log lacks an acknowledged entry. If the log ends before that entry, a node that has acknowledged or
 * read the entry can append it again. If a different entry is in its place, the store had lost the entry before an
 * owner that did not have it took over.
 */
export class MissingEntryError extends LossError {
  constructor(
    shard: number,
    readonly head: Head,
    acknowledged: Position,
  ) {
    super(
      `the log of shard ${shard} ends at ${formatLsn(head.lsn)}, but lacks ${formatLsn(acknowledged.lsn)}, which was acknowledged`,
    );
  }
}

type Reader = LogReaderDeps & Pick<TakeOverDeps, 'delay'> & { readonly wal: Pick<Wal, 'head' | 'read'> };

/**
 * Maximum number of times that the log may appear to end before its head. This can happen because the log grows between
 * the two reads.
 */
const SHORT_LOOKS_MAX = 5;
const SHORT_LOOK_MS = 50;

/**
 * Standby copy of a shard that another owner serves, built by reading that owner's log. It applies only durable
 * entries. Like the owner, it keeps the newest entries, so that either of them can append entries again that the store
 * has lost. The follower can take over the shard at any time without loading anything.
 */
export class Follower implements OwnTail {
  private readonly replay: Replay;
  /** The latest read of the log. Each read starts when the previous one has ended. */
  private last: Promise<unknown> = Promise.resolve();
  /** True once the wallets are served or have been dropped. From then on, queued reads must not change them. */
  private isOver = false;
  /** Number of reads in a row that found no new entries. */
  quietReads = 0;
  /** True from the call of `takeOver` until it ends. */
  isTaking = false;

  /**
   * Follows a log from a recovered state, or from a state that this node has been serving. `awaited` is the newest
   * entry that this node has acknowledged; set only if the log does not contain that entry yet.
   */
  constructor(
    readonly shard: number,
    private readonly from: Recovered,
    private awaited?: Position | undefined,
  ) {
    this.replay = Replay.from(from);
  }

  /**
   * Loads the newest snapshot and the current log, and starts to follow the log. Rejects with a `RecoveryError` if this
   * is impossible.
   */
  static async begin(followed: FollowedLog, deps: RecoveryDeps): Promise<Follower> {
    const { shard, genesis, mayBeShort, fence } = followed;
    const target = await headOf(shard, deps);
    followed.checkHead?.(target);
    const found = fence !== undefined && isSameHead(target, fence.entry.head) ? fence.previous : target;
    const what = { shard, genesis, found, target };
    const acknowledged = deps.acknowledged(shard);
    const isShort =
      acknowledged !== undefined &&
      acknowledged.lsn.sequence > target.lsn.sequence &&
      !(await lossAcceptedSince(acknowledged.lsn.epoch, shard, target, deps));
    if (!isShort || !mayBeShort) return new Follower(shard, await rebuild(what, deps));
    return new Follower(shard, await rebuild(what, { ...deps, acknowledged: () => undefined }), acknowledged);
  }

  get wallets(): Wallets {
    return this.replay.wallets;
  }

  get totals(): LedgerTotals {
    return this.replay.totals;
  }

  /** Keys of the rounds that left memory while this node followed the log. */
  get left(): EvictedKeys | undefined {
    return this.replay.left;
  }

  /** The newest applied entry. */
  get head(): Head {
    return this.replay.head;
  }

  get timeMs(): number {
    return this.replay.timeMs;
  }

  /** The kept entries after `head`; undefined if `head` is not among the kept entries. */
  findEntriesAfter(head: Head): readonly EncodedEntry[] | undefined {
    return this.from.recent.findAfter(head);
  }

  get recentEntries(): readonly EncodedEntry[] {
    return this.from.recent.all();
  }

  /**
   * Applies the rest of the log. Rejects with a `RecoveryError` if it does not follow from the entries applied before;
   * the follower cannot be used after that. Errors of an outage are passed on, and the follower can continue after
   * them.
   */
  async readOn(deps: LogReaderDeps, yieldTurn: () => Promise<void>): Promise<void> {
    let entries = 0;
    try {
      entries = await this.alone(() => this.readToEnd(deps, yieldTurn));
    } finally {
      // A log that cannot be read is also read less often.
      this.quietReads = entries > 0 ? 0 : this.quietReads + 1;
    }
  }

  /**
   * Reads up to the log's head and resolves to that head. The log may lack entries that are kept here, because these
   * are appended again together with the fence. Rejects with a `LossError` if the log diverges, lacks more than the
   * kept entries, or has no entries up to its head.
   */
  private async catchUp(deps: Reader, yieldTurn: () => Promise<void>): Promise<Head> {
    for (let short = 0; ; ) {
      const entries = await this.readToEnd(deps, yieldTurn);
      const found = await deps.wal.head(this.shard);
      if (this.isOver) throw new Error('the shard was unloaded in the meantime');
      if (this.findEntriesAfter(found) !== undefined) return found;
      if (found.lsn.sequence > this.head.lsn.sequence) {
        short = entries === 0 ? short + 1 : 0;
        if (short < SHORT_LOOKS_MAX) {
          if (short > 0) await deps.delay(SHORT_LOOK_MS);
          continue;
        }
        const [at, to] = [formatLsn(this.head.lsn), formatLsn(found.lsn)];
        throw new ShortLogError(`the log of shard ${this.shard} ends at ${at}, before its head ${to}`);
      }
      throw new LossError(
        `the log of shard ${this.shard} ends at ${formatLsn(found.lsn)}, and does not continue from ${formatLsn(this.head.lsn)}, which was read`,
      );
    }
  }

  /**
   * Takes over the shard: writes a fence by compare-and-set on the head that was read, so that no entry can come
   * between them. Throws a `FencedError` if the log continues or has a different head, a `MissingEntryError` if the log
   * lacks an acknowledged entry, and an `OverdueError` if the fence is late. The shard can still be followed after any of
   * these errors.
   */
  takeOver(
    { over, acknowledged, untilMs, own }: Taking,
    deps: Reader & TakeOverDeps & Pick<RecoveryDeps, 'hasArchive'>,
    yieldTurn: () => Promise<void>,
  ): Promise<TakenOver> {
    this.isTaking = true;
    const taken = this.alone(async () => {
      const found = await this.catchUp(deps, yieldTurn);
      const { shard } = this;
      // A log that has lost its tail ends before the entries applied here.
      const isAsSeen = over === undefined || isSameHead(this.head, over) || isSameHead(found, over);
      if (!isAsSeen) throw new FencedError(shard, found);
      const { head: previous, timeMs } = this;
      if (acknowledged !== undefined && this.lacks(acknowledged)) {
        const isAccepted = await lossAcceptedSince(acknowledged.lsn.epoch, shard, previous, deps);
        if (!isAccepted) throw new MissingEntryError(shard, previous, acknowledged);
      }
      if (own !== undefined) this.checkOwn(own, found);
      // Rounds may have left memory since this node began to follow the log.
      mustHaveArchive(shard, this.from.totals, deps);
      const takeover: Takeover = own?.fence ?? makeFenceOver(shard, previous, timeMs, deps);
      const { entry } = takeover;
      let healed = 0;
      if (!isSameHead(found, entry.head)) {
        healed = await writeFence(takeover, this, { ...deps, wal: timelyAppend(deps.wal, untilMs, deps.clock) });
      }
      if (!isSameHead(this.head, entry.head)) this.take({ entry: deps.format.decode(entry.bytes), bytes: entry.bytes });
      this.end();
      return { recovered: this.reached(), healed };
    });
    return taken.finally(() => {
      this.isTaking = false;
    });
  }

  end(): void {
    this.isOver = true;
  }

  /** Throws unless the log ends in an entry of this process: in the fence that it has written, or before that fence. */
  private checkOwn({ tag, fence }: OwnLog, found: Head): void {
    const { shard, head } = this;
    const isOurs =
      fence === undefined
        ? head.nonce.startsWith(tag)
        : isSameHead(head, fence.entry.head) || isSameHead(head, fence.previous);
    if (isOurs) return;
    if (fence === undefined || head.lsn.sequence >= fence.previous.lsn.sequence) throw new FencedError(shard, found);
    const [at, to] = [formatLsn(head.lsn), formatLsn(fence.entry.head.lsn)];
    throw new LossError(`the log of shard ${shard} ends at ${at}, and lacks entries before the fence ${to}`);
  }

  private async readToEnd(deps: LogReaderDeps, yieldTurn: () => Promise<void>): Promise<number> {
    let entries = 0;
    if (this.isOver) return entries;
    for await (const page of readLog(this.shard, this.head, deps)) {
      if (this.isOver) break;
      for (const read of page) {
        this.take(read);
        entries++;
      }
      await yieldTurn();
    }
    return entries;
  }

  /**
   * True if the acknowledged entry is missing here. If the entry is older than all kept ones, this cannot be checked,
   * and the result is false.
   */
  private lacks(acknowledged: Position): boolean {
    const { sequence } = acknowledged.lsn;
    if (sequence > this.head.lsn.sequence) return true;
    const there = this.from.recent.findHead(sequence);
    return there !== undefined && !isAt(there, acknowledged);
  }

  private alone<T>(run: () => Promise<T>): Promise<T> {
    const result = this.last.then(run);
    this.last = result.catch(() => {});
    return result;
  }

  private take(read: ReadEntry): void {
    const { head, owner } = read.entry;
    // An operator continues without the entry.
    if (owner?.acceptsLoss && head.lsn.epoch > (this.awaited?.lsn.epoch ?? 0)) this.awaited = undefined;
    const { awaited } = this;
    if (head.lsn.sequence === awaited?.lsn.sequence && !isAt(head, awaited)) {
      throw new LossError(
        `the log of shard ${this.shard} has ${formatLsn(head.lsn)} in the place of ${formatLsn(awaited.lsn)}, which was acknowledged`,
      );
    }
    this.replay.take(read);
    this.from.recent.add({ head: read.entry.head, bytes: read.bytes });
  }

  private reached(): Recovered {
    const { head, timeMs, logBytes, batches: tailEntries, events } = this.replay;
    return { ...this.from, head, timeMs, logBytes, tailEntries, events };
  }
}

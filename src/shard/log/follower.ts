import type { Wallets } from '../../wallet/state/wallets.js';
import type { Tallies } from '../../wallet/tallies.js';
import type { LeftNames } from '../archive/left-names.js';
import { lossAcceptedSince } from './accepted-loss.js';
import { type LogReaderDeps, type ReadEntry, readLog } from './log-reader.js';
import { compareLsn, formatLsn, LSN_ZERO, type Lsn } from './lsn.js';
import { mustHaveArchive, type Recovered, type RecoveryDeps, rebuild } from './recovery.js';
import { LossError, ShortLogError } from './recovery-error.js';
import { Replay } from './replay.js';
import { FencedError, sealFenceOver, type TakeOverDeps } from './take-over.js';
import { timelyAppend } from './timely-append.js';
import { type Head, isAt, isSameHead, type Position, type SealedEntry, type Takeover, type Wal } from './wal.js';
import { type OwnTail, writeFence } from './write-fence.js';

/** A log that is to be followed. */
export interface Followed {
  readonly shard: number;
  /** The head of its log before the first entry of all. */
  readonly genesis: Head;
}

/** How the log of a shard is to be fenced. */
export interface Taking {
  /** Only where the log, or what was read of it, ends in exactly this head; undefined: whatever it ends in. */
  readonly over: Head | undefined;
  /** Only when the log has this entry, or has forgotten it: the newest that anybody is known to have told. */
  readonly told: Position | undefined;
  /** What other nodes hold of the log, each its entries in order. */
  readonly copies: readonly (readonly SealedEntry[])[];
  /** They were asked for behind this sequence, to which what follows had been read. */
  readonly behind: number;
  /**
   * Of the monotonic clock: from then on others may tell of something that is neither in the log nor in `copies`. Infinity where
   * nobody tells of what the log does not have.
   */
  readonly untilMs: number;
}

/** `healed`: entries that the log had lost, and has again. */
export interface TakenOver {
  readonly recovered: Recovered;
  readonly healed: number;
}

/**
 * The log ends before what was told: who has told it, or has read it, puts it back. Or it has something else in its place: that
 * was lost before somebody took the log over who did not know of it.
 */
export class ToldError extends LossError {
  constructor(
    shard: number,
    readonly head: Head,
    told: Position,
  ) {
    super(`the log of shard ${shard} ends at ${formatLsn(head.lsn)}, and lacks ${formatLsn(told.lsn)}, which was told`);
  }
}

type Reader = LogReaderDeps & Pick<TakeOverDeps, 'delay'> & { readonly wal: Pick<Wal, 'head' | 'read'> };

/** So often a log may seem to end before its head: it may have moved between the two looks. */
const SHORT_LOOKS_MAX = 5;
const SHORT_LOOK_MS = 50;

/**
 * Keeps the wallets of a shard that another owner serves, by reading that owner's log on: what it applies is durable. It
 * also keeps the newest entries, as the owner does, so that a store that loses some of them gets them again from whichever
 * of the two is left. Ready to take the shard over at any time, with nothing to load.
 */
export class Follower implements OwnTail {
  private readonly replay: Replay;
  /** One reads on at a time. */
  private last: Promise<unknown> = Promise.resolve();
  /** Its wallets are served from now on, or dropped: whoever still waits for his turn must not touch them. */
  private isOver = false;

  /**
   * Goes on from a state that has been recovered, or from one that was served here till now. `awaited`: what this node has
   * acknowledged, and the log did not have yet.
   */
  constructor(
    readonly shard: number,
    private readonly from: Recovered,
    private readonly awaited?: Position,
  ) {
    this.replay = Replay.from(from);
  }

  /**
   * From the newest snapshot, and the log as it is now. Rejects with a `RecoveryError` when it cannot. A log that ends before
   * what this node has acknowledged can be followed: its owner, or who holds a copy, may put it back.
   */
  static async begin({ shard, genesis }: Followed, deps: RecoveryDeps): Promise<Follower> {
    const found = await deps.wal.head(shard);
    const acknowledged = deps.acknowledged(shard);
    const isShort = acknowledged !== undefined && acknowledged.lsn.sequence > found.lsn.sequence;
    const what = { shard, genesis, found, target: found };
    if (!isShort) return new Follower(shard, await rebuild(what, deps));
    return new Follower(shard, await rebuild(what, { ...deps, acknowledged: () => undefined }), acknowledged);
  }

  get wallets(): Wallets {
    return this.replay.wallets;
  }

  get tallies(): Tallies {
    return this.replay.tallies;
  }

  /** Names of the rounds that leave memory as it reads on. */
  get left(): LeftNames | undefined {
    return this.replay.left;
  }

  /** The newest entry that it has applied. */
  get head(): Head {
    return this.replay.head;
  }

  get timeMs(): number {
    return this.replay.timeMs;
  }

  /** The newest entries that follow `head`; undefined when it is none of them. */
  maybeEntriesAfter(head: Head): readonly SealedEntry[] | undefined {
    return this.from.recent.maybeAfter(head);
  }

  get recentEntries(): readonly SealedEntry[] {
    return this.from.recent.all();
  }

  /**
   * Applies what the log has by now; resolves to the number of entries. Rejects with a `RecoveryError` when these do not
   * follow from what it has: then it is of no use any more. Errors of an outage come through, and it can go on.
   */
  readOn(deps: LogReaderDeps, yieldTurn: () => Promise<void>): Promise<number> {
    return this.alone(() => this.readToEnd(deps, yieldTurn));
  }

  /**
   * Reads on to the head that the log has. A log that is shorter by entries that are kept here counts as read: they are
   * put back with the fence. Resolves to the head of the log; rejects with a `LossError` where it goes on otherwise, lacks
   * more than is kept, or has no entries up to its head.
   */
  private async catchUp(deps: Reader, yieldTurn: () => Promise<void>): Promise<Head> {
    for (let short = 0; ; ) {
      const entries = await this.readToEnd(deps, yieldTurn);
      const found = await deps.wal.head(this.shard);
      if (this.isOver) throw new Error('the shard was left meanwhile');
      if (this.maybeEntriesAfter(found) !== undefined) return found;
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
        `the log of shard ${this.shard} ends at ${formatLsn(found.lsn)}, and does not follow from ${formatLsn(this.head.lsn)}, which was read`,
      );
    }
  }

  /**
   * Takes the shard over: a fence, by compare-and-set on the head that was read, so that nothing is between the two. Throws a
   * `FencedError` where the log goes on or has another head, a `ToldError` where it lacks what was told, an `OverdueError` where
   * it comes too late; it can be followed further then.
   */
  takeOver(
    { over, told, copies, behind, untilMs }: Taking,
    deps: Reader & TakeOverDeps & Pick<RecoveryDeps, 'hasArchive'>,
    yieldTurn: () => Promise<void>,
  ): Promise<TakenOver> {
    return this.alone(async () => {
      const found = await this.catchUp(deps, yieldTurn);
      const { shard } = this;
      // A log that has lost its tail ends before what is here.
      const isAsSeen = over === undefined || isSameHead(this.head, over) || isSameHead(found, over);
      if (!isAsSeen) throw new FencedError(shard, found);
      // Left and read anew meanwhile, from a log that has lost its end: what others hold of that end was not asked for.
      if (this.head.lsn.sequence < behind) throw new Error('its log is shorter than when others were asked for copies');
      this.takeCopies(copies, deps);
      const { head: previous, timeMs } = this;
      if (told !== undefined && this.lacks(told)) {
        const isAccepted = await lossAcceptedSince(told.lsn.epoch, shard, previous, deps);
        if (!isAccepted) throw new ToldError(shard, previous, told);
      }
      // Rounds may have left since it began to follow.
      mustHaveArchive(shard, this.from.tallies, deps);
      const takeover: Takeover = sealFenceOver(shard, previous, timeMs, deps);
      const healed = await writeFence(takeover, this, { ...deps, wal: timelyAppend(deps.wal, untilMs, deps.clock) });
      const { entry } = takeover;
      this.take({ entry: deps.format.decode(entry.bytes), bytes: entry.bytes });
      this.end();
      return { recovered: this.reached(), healed };
    });
  }

  end(): void {
    this.isOver = true;
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

  /** What the log had, or was about to have, and goes on from what is here: it is put back with the fence. */
  private takeCopies(copies: readonly (readonly SealedEntry[])[], { format }: Pick<TakeOverDeps, 'format'>): void {
    const newestFirst = [...copies].sort((a, b) => compareLsn(endOf(b), endOf(a)));
    // One may hold what comes before that of another: each is looked for by what it follows.
    const following = new Map<string, ReadEntry>();
    for (const { bytes } of newestFirst.flat()) {
      const entry = format.decode(bytes);
      const place = placeOf(entry.previousLsn, entry.previousChecksum);
      if (!following.has(place)) following.set(place, { entry, bytes });
    }
    const next = () => following.get(placeOf(this.head.lsn, this.head.checksum));
    for (let read = next(); read !== undefined; read = next()) this.take(read);
  }

  /** What is older than all that is kept is not looked for. */
  private lacks(told: Position): boolean {
    const { sequence } = told.lsn;
    if (sequence > this.head.lsn.sequence) return true;
    const there = this.recentEntries.find(({ head }) => head.lsn.sequence === sequence);
    return there !== undefined && !isAt(there.head, told);
  }

  private alone<T>(run: () => Promise<T>): Promise<T> {
    const result = this.last.then(run);
    this.last = result.catch(() => {});
    return result;
  }

  private take(read: ReadEntry): void {
    const { awaited } = this;
    const { head } = read.entry;
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

function placeOf(lsn: Lsn, checksum: number): string {
  return `${formatLsn(lsn)} ${checksum}`;
}

function endOf(entries: readonly SealedEntry[]): Lsn {
  return entries.at(-1)?.head.lsn ?? LSN_ZERO;
}

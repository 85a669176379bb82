import { nameOfRound } from '../../archive/archive-hash.js';
import type { OnProgress } from '../../base/progress.js';
import { firstEntry, tryEntry } from '../../log/log-reader.js';
import { takeOver } from '../../log/take-over.js';
import { ALL_DAYS, type Archive, type ArchiveKey, type MissingDay } from '../../ports/archive.js';
import { DamagedArchiveError } from '../../ports/damaged-archive-error.js';
import { compareLsn, isSameLsn, LSN_ZERO, type Lsn } from '../../ports/lsn.js';
import { RecoveryError } from '../../ports/recovery-error.js';
import { type Entry, type Head, isSameHead, type Owner } from '../../ports/wal.js';
import { type ArchiveMark, compareMarks } from '../../wallet/archive-mark.js';
import { nameOfSerialized } from '../../wallet/state/serialized-round.js';
import { rawEntriesAfter } from '../raw-entries.js';
import { findRequiredMark } from '../required-mark.js';
import type { AcceptLossDeps } from './accept-loss.js';

/*
 * An archive that lacks records on which the logs rely is not trusted, so every request that needs a lookup waits.
 * `findArchiveLoss` lists the lost rounds, as far as the logs still name them. `acceptArchiveLoss` appends a fence
 * about the loss to each log, and then raises the marks of the archive to those of the logs. If a run is interrupted
 * between these two steps, the next run finds the same loss again.
 */

type LossArchive = Pick<Archive, 'mark' | 'missingDays' | 'find' | 'days' | 'acceptLoss'>;

/** Undefined if the archive does not exist yet. */
type Deps = AcceptLossDeps & { readonly archive?: LossArchive | undefined };

/** A round that left memory but is missing from the archive. */
export interface LostRound {
  readonly username: string;
  readonly productId: string;
  readonly roundId: string;
  /** The entry in which the round left memory, and its time in ms. */
  readonly lsn: Lsn;
  readonly timeMs: number;
}

export interface ShardArchiveLoss {
  readonly shard: number;
  /** The head of the log when it was examined. */
  readonly found: Head;
  /** The newest record on which the log relies, and the newest record that the archive contains. */
  readonly required: ArchiveMark | undefined;
  readonly mark: ArchiveMark | undefined;
  /** Oldest first, at most `roundsMax`. */
  readonly rounds: readonly LostRound[];
  /** Number of further lost rounds. */
  readonly more: number;
  /**
   * The oldest entry of the log. Set if rounds that left memory before it may be lost as well, because no entry names
   * them.
   */
  readonly knownFrom: Pick<Entry, 'lsn' | 'timeMs'> | undefined;
}

export interface ArchiveLoss {
  /** Shards whose archive lacks records, or may lack some. */
  readonly shards: readonly ShardArchiveLoss[];
  readonly missingDays: readonly MissingDay[];
}

export interface ArchiveLossSearch {
  /** Rounds that left memory before this time (in ms) may also have left the archive. */
  readonly keptSinceMs: number;
  /** True if the archive is not the one that the store names. Its marks then prove nothing. */
  readonly isOther: boolean;
  /** Maximum number of rounds to name per shard. A million takes about 300 MB. */
  readonly roundsMax: number;
  readonly onProgress?: OnProgress;
}

/** Number of rounds per lookup. */
const LOOKUP_ROUNDS = 500;

/** Finds archive records on which the logs rely and that the archive lacks. Writes nothing. */
export async function findArchiveLoss(
  shards: readonly number[],
  deps: Deps,
  search: ArchiveLossSearch,
): Promise<ArchiveLoss> {
  const missingDays = (await deps.archive?.missingDays()) ?? [];
  const found: ShardArchiveLoss[] = [];
  for (const [done, shard] of shards.entries()) {
    search.onProgress?.(done, shards.length);
    const head = await deps.wal.head(shard);
    const required = await findRequiredMark(shard, deps);
    const mark = await deps.archive?.mark(shard);
    const isBehind = required !== undefined && compareMarks(mark, required) < 0;
    const isUnproved = missingDays.length > 0 || search.isOther;
    if (!isBehind && (!isUnproved || head.lsn.sequence === 0)) continue;
    const proved = isUnproved ? undefined : mark;
    const lost = new LostRounds(shard, proved, deps.archive, search);
    await lost.read(deps);
    const knownFrom = await oldestKnown(shard, proved, deps);
    const isWhole = lost.rounds.length === 0 && knownFrom === undefined;
    if (!isBehind && isWhole && missingDays.length === 0) continue;
    found.push({ shard, found: head, required, mark, rounds: lost.rounds, more: lost.more, knownFrom });
  }
  return { shards: found, missingDays };
}

/**
 * Makes the shards continue without the lost rounds, and returns their new heads. Throws if a log has been written to
 * since it was examined. Durable when the promise resolves.
 */
export async function acceptArchiveLoss(
  { shards }: ArchiveLoss,
  archive: LossArchive,
  deps: Deps,
): Promise<ReadonlyMap<number, Head>> {
  const owner: Owner = { ...deps.owner, acceptsArchiveLoss: true };
  const heads = new Map<number, Head>();
  const marks = new Map<number, ArchiveMark>();
  for (const { shard, found, required } of shards) {
    if (!isSameHead(await deps.wal.head(shard), found)) throw writtenTo(shard);
    const [fenced] = await takeOver([shard], { ...deps, owner });
    if (fenced === undefined || !isSameHead(fenced.previous, found)) throw writtenTo(shard);
    heads.set(shard, fenced.entry.head);
    if (required !== undefined) marks.set(shard, required);
  }
  await archive.acceptLoss(marks);
  return heads;
}

function writtenTo(shard: number): RecoveryError {
  return new RecoveryError(
    `the log of shard ${shard} has been written to since it was examined: run the command again`,
  );
}

/**
 * Finds the oldest entry of the log; undefined if the archive provably contains all rounds that left memory before it.
 */
async function oldestKnown(
  shard: number,
  mark: ArchiveMark | undefined,
  deps: Deps,
): Promise<ShardArchiveLoss['knownFrom']> {
  const first = await firstEntry(shard, deps);
  if (first === undefined || first.lsn.sequence === 1) return undefined;
  return mark !== undefined && compareLsn(mark, first.previousLsn) >= 0 ? undefined : first;
}

interface ArchivedRoundName extends LostRound {
  readonly mark: ArchiveMark | undefined;
}

/** Rounds of one shard that its log has sent to the archive but that the archive lacks. */
class LostRounds {
  more = 0;
  private readonly lost = new Map<string, LostRound>();
  /** Rounds that still have to be looked up, each with the record on which its event relies. */
  private readonly gone = new Map<string, ArchivedRoundName>();

  constructor(
    private readonly shard: number,
    /** The archive is proved to contain all records up to this one. Undefined if nothing is proved. */
    private readonly mark: ArchiveMark | undefined,
    private readonly archive: LossArchive | undefined,
    private readonly search: ArchiveLossSearch,
  ) {}

  get rounds(): readonly LostRound[] {
    return [...this.lost.values()];
  }

  async read(deps: Deps): Promise<void> {
    for await (const page of rawEntriesAfter(this.shard, LSN_ZERO, deps)) {
      for (const bytes of page) {
        const entry = tryEntry(bytes, deps.format);
        if (entry !== undefined) this.take(entry);
        if (this.gone.size >= LOOKUP_ROUNDS) await this.lookUp();
      }
      await deps.yieldTurn();
    }
    await this.lookUp();
  }

  private take({ lsn, events }: Entry): void {
    for (const event of events) {
      const { username, timeMs } = event;
      if (event.type === 'rounds-restored') {
        for (const image of event.images) {
          const { productId, roundId } = nameOfSerialized(image);
          this.gone.delete(keyOf(username, productId, roundId));
          this.lost.delete(keyOf(username, productId, roundId));
        }
      } else if (event.type === 'rounds-archived') {
        const { mark } = event;
        if (timeMs < this.search.keptSinceMs) continue;
        if (mark !== undefined && this.mark !== undefined && compareMarks(mark, this.mark) <= 0) continue;
        for (const { productId, roundId } of event.rounds) {
          this.gone.set(keyOf(username, productId, roundId), { username, productId, roundId, lsn, timeMs, mark });
        }
      }
    }
  }

  private async lookUp(): Promise<void> {
    const there = await this.areThere([...this.gone.values()]);
    for (const [i, [key, { mark: _, ...round }]] of [...this.gone].entries()) {
      if (there[i]) continue;
      if (this.lost.size < this.search.roundsMax) this.lost.set(key, round);
      else this.more++;
    }
    this.gone.clear();
  }

  /** Looks up rounds one at a time if one of them is damaged, because a damaged round does not count as lost. */
  private async areThere(rounds: readonly ArchivedRoundName[]): Promise<readonly boolean[]> {
    const { archive, shard } = this;
    if (archive === undefined || rounds.length === 0) return rounds.map(() => false);
    try {
      const records = await archive.find(shard, rounds.map(nameOf), ALL_DAYS);
      const there = new Map<string, Lsn[]>();
      for (const { image, lsn } of records) {
        const { username, productId, roundId } = nameOfSerialized(image);
        const key = keyOf(username, productId, roundId);
        there.set(key, [...(there.get(key) ?? []), lsn]);
      }
      return rounds.map(({ username, productId, roundId, mark }) => {
        const lsns = there.get(keyOf(username, productId, roundId)) ?? [];
        // Require the record's LSN, which all records of one put share. An older record of the round would lack later
        // changes.
        return lsns.some((lsn) => mark === undefined || isSameLsn(lsn, mark));
      });
    } catch (error) {
      if (!(error instanceof DamagedArchiveError)) throw error;
      if (rounds.length === 1) return [true];
      return (await Promise.all(rounds.map((round) => this.areThere([round])))).flat();
    }
  }
}

function nameOf({ username, productId, roundId }: LostRound): ArchiveKey {
  return nameOfRound(username, productId, roundId);
}

function keyOf(...names: readonly string[]): string {
  return JSON.stringify(names);
}

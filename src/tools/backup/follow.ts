import { setTimeout as delay } from 'node:timers/promises';
import { nameOfRound } from '../../archive/archive-hash.js';
import { readLog } from '../../log/log-reader.js';
import { ALL_DAYS } from '../../ports/archive.js';
import { ArchiveBehindError } from '../../ports/archive-behind-error.js';
import { compareLsn, formatLsn } from '../../ports/lsn.js';
import { RecoveryError } from '../../ports/recovery-error.js';
import { isPermanent } from '../../ports/retry-policy.js';
import { type Entry, type Head, isSameHead } from '../../ports/wal.js';
import { type ArchiveMark, newestMark } from '../../wallet/archive-mark.js';
import type { SourceStore } from '../copy-ports.js';
import type { Coverage, ShardCoverage } from '../coverage.js';
import type { Frame } from '../frame.js';
import { Outage } from '../outage.js';
import { requiredAfter } from '../required-mark.js';
import { ToolError } from '../store-reader.js';
import { orTrimmed, TrimmedError } from '../trimmed-error.js';
import { OtherArchiveError } from './other-archive.js';

export interface FollowOptions {
  readonly now: () => number;
  readonly warn: (sentence: string) => void;
  /** Aborting ends the stream after the next `end`. */
  readonly signal: AbortSignal;
  /** Called once a second with the number of entries that the copy lacks. */
  readonly onLag?: (entries: number) => void;
  /** Called when the copy contains everything up to this time (in ms) and the consumer has taken its `end`. */
  readonly onCovered?: (timeMs: number) => void;
  /**
   * Rejects if the archive does not belong to the log. Called before the first pass, and in the first pass after an
   * outage.
   */
  readonly checkArchive?: () => Promise<void>;
  /** Rounds that left memory before this time (in ms) may also have left the archive. */
  readonly archivedSinceMs?: () => number;
  /**
   * Maximum number of passes (one per second) for which a round may be missing from the archive, because an archive
   * replica may lag.
   */
  readonly archiveLatePassesMax?: number;
}

const PAUSE_MS = 1000;
const SEGMENT_BYTES_MAX = 8 * 1024 * 1024;
const LATE_PASSES_MAX = 10;

/**
 * The entries after `coverage`, with an `end` once a second and every few megabytes. Waits out an outage of any length.
 * Throws a `ToolError` if the log no longer has the next entry. Throws an `OtherArchiveError` if a round that left
 * memory is not in the archive.
 */
export async function* framesAfter(
  store: SourceStore,
  coverage: Coverage,
  {
    now,
    warn,
    signal,
    onLag = () => {},
    onCovered = () => {},
    checkArchive = async () => {},
    archivedSinceMs = () => Number.NEGATIVE_INFINITY,
    archiveLatePassesMax = LATE_PASSES_MAX,
  }: FollowOptions,
): AsyncGenerator<Frame, void> {
  const shards = coverage.shards.map((shard, i) => new Follower(i, shard, store, archivedSinceMs));
  const outage = new Outage(warn);
  const end = (): Frame => ({ type: 'end', coverage: { timeMs: now(), shards: shards.map((one) => one.coverage()) } });
  let isChecked = false;
  let latePasses = 0;
  while (!signal.aborted) {
    const passMs = now();
    let bytes = 0;
    try {
      if (!isChecked) await checkArchive();
      isChecked = true;
      for (const shard of shards) {
        const lost = await shard.lost();
        if (lost !== undefined) warn(lost);
      }
      onLag(shards.reduce((sum, { behind }) => sum + behind, 0));
      for (const shard of shards) {
        for await (const frames of shard.entries()) {
          yield* frames;
          for (const frame of frames) bytes += frame.type === 'entry' ? frame.bytes.length : frame.record.image.length;
          if (bytes < SEGMENT_BYTES_MAX) continue;
          yield end();
          bytes = 0;
          if (signal.aborted) return;
        }
      }
      outage.end();
      latePasses = 0;
      if (bytes > 0) yield end();
      bytes = 0;
      onCovered(passMs);
    } catch (error) {
      if (isPermanent(error) || error instanceof ToolError || error instanceof OtherArchiveError) throw error;
      const isBehind = error instanceof MissingRoundsError || error instanceof ArchiveBehindError;
      if (isBehind && ++latePasses >= archiveLatePassesMax) {
        throw new OtherArchiveError(error.message);
      }
      isChecked = false;
      outage.begin(error as Error);
    }
    if (bytes > 0) yield end();
    await pause(signal);
  }
}

type EntryFrame = Extract<Frame, { type: 'entry' | 'archived' }>;

class Follower {
  private head: Head;
  /** The newest record that is in both the archive and the copy. */
  private archived: ArchiveMark | undefined;
  private isBehind = false;
  /** Number of entries that the copy lacked at the last check. */
  behind = 0;

  constructor(
    readonly shard: number,
    private readonly beginning: ShardCoverage,
    private readonly store: SourceStore,
    private readonly archivedSinceMs: () => number,
  ) {
    this.head = beginning.head;
    this.archived = beginning.archived;
  }

  coverage(): ShardCoverage {
    const { head, archived } = this;
    const { snapshot } = this.beginning;
    return archived === undefined ? { head, snapshot } : { head, snapshot, archived };
  }

  /**
   * If the log ends before the backup does, returns a sentence, but only once: the log's owner may still append the
   * lost entries again. Throws a `ToolError` if the log has different entries instead.
   */
  async lost(): Promise<string | undefined> {
    const head = await this.store.wal.head(this.shard);
    const { lsn } = this.head;
    const wasBehind = this.isBehind;
    this.isBehind = head.lsn.sequence < lsn.sequence;
    this.behind = Math.max(0, head.lsn.sequence - lsn.sequence);
    const isAfter = isSameHead(head, this.head) || (head.lsn.sequence > lsn.sequence && compareLsn(head.lsn, lsn) > 0);
    if (!isAfter && !this.isBehind) throw this.anotherHistory();
    if (!this.isBehind || wasBehind) return undefined;
    return (
      `the log of shard ${this.shard} ends at ${formatLsn(head.lsn)}: ` +
      `the store has lost entries up to ${formatLsn(lsn)}, which the backup has`
    );
  }

  /** Entries, each followed by the archived rounds that left memory in it. */
  async *entries(): AsyncGenerator<readonly EntryFrame[], void> {
    try {
      for await (const page of readLog(this.shard, this.head, this.store)) {
        for (const { entry, bytes } of page) {
          const archived = await this.archivedIn(entry);
          this.head = entry.head;
          yield [{ type: 'entry', shard: this.shard, bytes }, ...archived];
        }
      }
    } catch (error) {
      if (!(error instanceof RecoveryError)) throw error;
      const explained = await orTrimmed(error, this.shard, this.head, 'copied', this.store);
      if (!(explained instanceof TrimmedError)) throw this.anotherHistory(error);
      throw new ToolError(`${explained.message}; begin a new backup in another file`, { cause: error });
    }
  }

  /**
   * Archive records of the rounds that left memory in this entry. The archive received them before the entry was
   * appended.
   */
  private async archivedIn({ events, timeMs, lsn }: Entry): Promise<EntryFrame[]> {
    const { archive } = this.store;
    const names = events.flatMap((event) =>
      event.type === 'rounds-archived'
        ? event.rounds.map(({ productId, roundId }) => nameOfRound(event.username, productId, roundId))
        : [],
    );
    if (names.length === 0) return [];
    if (archive === undefined)
      throw new ToolError(`rounds of shard ${this.shard} are in an archive: set WALLETD_ARCHIVE`);
    const mark = requiredAfter(undefined, events);
    const records = await archive.find(this.shard, names, ALL_DAYS, mark);
    const found = new Set(records.map(({ player, round }) => `${player} ${round}`));
    const missing = names.filter(({ player, hash }) => !found.has(`${player} ${hash}`)).length;
    if (missing > 0 && timeMs >= this.archivedSinceMs()) {
      throw new MissingRoundsError(
        `${missing} of ${names.length} rounds that left memory with ${formatLsn(lsn)} of shard ${this.shard} are not in the archive`,
      );
    }
    this.archived = newestMark(this.archived, mark);
    return records.map((record) => ({ type: 'archived', record }));
  }

  /**
   * An error for a log with a different history, for example after a restore to an earlier moment at the same address.
   */
  private anotherHistory(error?: RecoveryError): ToolError {
    const why = error === undefined ? '' : ` (${error.fact})`;
    return new ToolError(
      `the log of shard ${this.shard} does not continue from ${formatLsn(this.head.lsn)}, where the backup ends: ` +
        `it is damaged, or has a different history${why}; begin a new backup in another file`,
    );
  }
}

/**
 * Thrown if the queried archive does not have a round that left memory, although a round leaves memory only once its
 * archive record is durable.
 */
class MissingRoundsError extends Error {}

async function pause(signal: AbortSignal): Promise<void> {
  try {
    await delay(PAUSE_MS, undefined, { signal });
  } catch {
    // Ignore the error, because the aborted wait ends the caller's loop.
  }
}

import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { Slices } from '../base/slices.js';
import { formatLsn, isSameLsn } from '../ports/lsn.js';
import { LossError, RecoveryError, ShortLogError } from '../ports/recovery-error.js';
import { type RetryPolicy, withRetries } from '../ports/retry-policy.js';
import type { LogMark, SnapshotFormat, SnapshotStore } from '../ports/snapshot-store.js';
import { type EntryFormat, type Head, isAt, isSameHead, type Position, type Wal } from '../ports/wal.js';
import { formatMark } from '../wallet/archive-mark.js';
import { checkWallet } from '../wallet/invariants.js';
import type { TableSizes } from '../wallet/state/tables.js';
import { lossAcceptedSince } from './accepted-loss.js';
import { decodeEntry, entryAt, firstEntry, type ReadEntry, readHeaders, readLog } from './log-reader.js';
import { RecentEntries } from './recent-entries.js';
import { RecoveryProgress } from './recovery-progress.js';
import { firstReplay, type Reached, Replay } from './replay.js';
import { checkAgainstLog, checkEnds, checkReached } from './snapshot-ends.js';
import { listSnapshots, type SnapshotReaderDeps } from './snapshot-reader.js';

export interface RecoveryDeps extends RetryPolicy {
  readonly wal: Wal;
  readonly snapshots: SnapshotStore;
  readonly format: EntryFormat;
  readonly snapshotFormat: SnapshotFormat;
  readonly clock: Clock;
  readonly log: Logger;
  /** Lets the thread's other work run. */
  readonly yieldTurn: () => Promise<void>;
  /** Maximum number of bytes of the newest entries that are kept in case the store loses them. */
  readonly recentBytesMax: number;
  /** The newest entry of a shard that this node has acknowledged, according to the node's local record. */
  readonly acknowledged: (shard: number) => Position | undefined;
  /** If false, archived rounds cannot be looked up, and a log with archived rounds is refused. */
  readonly hasArchive?: boolean;
  /**
   * Sizes of the tables in memory, which `snapshotFormat` must use as well. Undefined for the sizes that suit many
   * players.
   */
  readonly tableSizes?: TableSizes | undefined;
}

export interface Recovered extends Reached {
  /** The newest entries, no matter which owner wrote them. If the store loses some of them, they are appended again. */
  readonly recent: RecentEntries;
  /** Number of events replayed on top of the snapshot. */
  readonly events: number;
  /** The log marks of the snapshot from which recovery started. */
  readonly marks: readonly LogMark[];
  /** Ids of newer snapshots that proved to be damaged. */
  readonly damaged: readonly string[];
  /** Publication time of that snapshot, in ms; undefined if recovery started without a snapshot. */
  readonly snapshotMs: number | undefined;
}

/** A replay that has not begun, with the heads of entries that the log must still contain. */
interface Beginning {
  readonly replay: Replay;
  /**
   * Ends of the replay's snapshot and of newer damaged ones. The log once contained all these entries and must still
   * contain them.
   */
  readonly ends: readonly Head[];
  /** Ids of the damaged snapshots. */
  readonly damaged: readonly string[];
}

type Yield = () => Promise<void>;

/** Input of a rebuild. */
export interface Rebuild {
  readonly shard: number;
  readonly genesis: Head;
  /** The log's head when the rebuild began, or the head before the fence if this process had written one. */
  readonly found: Head;
  /** The target of the replay: `found`, or the fence after it. */
  readonly target: Head;
}

/**
 * Rebuilds a shard's state from its newest undamaged snapshot and the tail of its log. Yields regularly, so that a
 * shard on the main thread does not block the others. Rejects with a `RecoveryError` if rebuilding is impossible.
 */
export async function rebuild(what: Rebuild, deps: RecoveryDeps): Promise<Recovered> {
  const { clock, log } = deps;
  const { shard, target } = what;
  const startedMs = clock.monotonicMs();
  const slices = new Slices(clock, deps.yieldTurn);
  const yieldWhenDue = () => slices.yieldWhenDue();
  await checkAcknowledged(shard, deps);
  const beginning = await begin(what, yieldWhenDue, deps);
  const { replay, damaged } = beginning;
  if (deps.hasArchive === true) replay.collectLeft();
  const recent = await recentBefore(replay, shard, yieldWhenDue, deps);
  await replayTo(what, beginning, recent, yieldWhenDue, deps);
  const { wallets, totals, events, timeMs, logBytes, marks, manifest } = replay;
  for (const wallet of wallets.unpacked()) {
    checkWallet(wallet);
    await slices.yieldWhenDue();
  }
  mustHaveArchive(shard, totals, deps);
  const tookMs = Math.round(clock.monotonicMs() - startedMs);
  const from = formatLsn(replay.start.lsn);
  log.info({ shard, lsn: formatLsn(target.lsn), from, events, players: wallets.count, tookMs }, 'shard recovered');
  const tailEntries = replay.batches;
  const snapshotMs = manifest?.timeMs;
  const reached = { wallets, totals, head: target, timeMs, logBytes, tailEntries, left: replay.left };
  return { ...reached, recent, events, marks, damaged, snapshotMs };
}

/** Checks that the log contains the newest acknowledged entry, unless that entry was trimmed. */
async function checkAcknowledged(shard: number, deps: RecoveryDeps): Promise<void> {
  const acknowledged = deps.acknowledged(shard);
  if (acknowledged === undefined || acknowledged.lsn.sequence === 0) return;
  const { lsn } = acknowledged;
  const before = { epoch: lsn.epoch, sequence: lsn.sequence - 1 };
  const [bytes] = await withRetries('read the log', deps, () => deps.wal.read(shard, before, 1));
  const found = bytes === undefined ? undefined : decodeEntry(bytes, shard, deps.format).head;
  if (found !== undefined && (found.lsn.sequence > lsn.sequence || isAt(found, acknowledged))) return;
  const head = await withRetries('read the head', deps, () => deps.wal.head(shard));
  if (await lossAcceptedSince(lsn.epoch, shard, head, retryingReader(deps))) return;
  const why =
    found !== undefined && isSameLsn(found.lsn, lsn)
      ? 'a different entry is in its place: the store was older and has been written to'
      : 'the store is older, or has lost its newest entries';
  throw new LossError(`the log of shard ${shard} lacks ${formatLsn(lsn)}, which this node has acknowledged: ${why}`);
}

/** Starts at the newest undamaged snapshot, or at the beginning of the log. */
async function begin({ shard, genesis, found }: Rebuild, yieldWhenDue: Yield, deps: RecoveryDeps): Promise<Beginning> {
  const { log } = deps;
  const { whole, damaged: illegible } = await withRetries('list the snapshots', deps, () => listSnapshots(shard, deps));
  for (const { id, reason } of illegible)
    log.warn({ code: 'snapshot-skipped', shard, snapshot: id, reason }, 'snapshot skipped');
  for (const manifest of whole) checkAgainstLog(manifest, found);
  const ends: Head[] = [];
  const damaged: string[] = [];
  const newest = await firstReplay(whole, retryingSnapshots(yieldWhenDue, deps), ({ id, message }, { end }) => {
    log.warn({ code: 'snapshot-skipped', shard, snapshot: id, reason: message }, 'snapshot skipped');
    ends.push(end);
    damaged.push(id);
  });
  if (newest?.manifest !== undefined) return { replay: newest, ends: [...ends, newest.manifest.end], damaged };
  const first = await firstEntry(shard, retryingReader(deps));
  if (first !== undefined && first.lsn.sequence !== 1) {
    throw new RecoveryError(
      `the log of shard ${shard} begins with ${formatLsn(first.lsn)}, and there is no complete snapshot to start from: restore a backup`,
    );
  }
  return { replay: Replay.ofNothing(genesis, deps.tableSizes), ends, damaged };
}

/** Replays the log up to the target. */
async function replayTo(
  { shard, target }: Rebuild,
  { replay, ends }: Beginning,
  recent: RecentEntries,
  yieldWhenDue: Yield,
  deps: RecoveryDeps,
): Promise<void> {
  const look = ({ entry, bytes }: ReadEntry) => {
    checkEnds(ends, entry);
    recent.add({ head: entry.head, bytes });
  };
  const progress = new RecoveryProgress(deps.clock, deps.log);
  const to = formatLsn(target.lsn);
  let isThere = isSameHead(replay.head, target);
  if (!isThere) {
    for await (const page of readLog(shard, replay.head, retryingReader(deps))) {
      isThere = await replay.takePage(page, target, yieldWhenDue, look);
      if (isThere) break;
      progress.report({ shard, at: formatLsn(replay.head.lsn), to, events: replay.events });
    }
  }
  const at = replay.head.lsn;
  if (!isThere) throw new ShortLogError(`the log of shard ${shard} ends at ${formatLsn(at)}, before its head ${to}`);
  checkReached(ends, shard, at);
}

/**
 * The newest entries before the start of the snapshot. They are kept because a store that loses the tail of a log can
 * also lose these entries. Includes only entries that the log still has without a gap.
 */
async function recentBefore(
  { start, marks }: Replay,
  shard: number,
  yieldWhenDue: Yield,
  deps: RecoveryDeps,
): Promise<RecentEntries> {
  const none = new RecentEntries(start, deps.recentBytesMax);
  const place = marks.at(-1);
  if (deps.recentBytesMax === 0 || place === undefined) return none;
  const from = marks.findLast(({ bytes }) => place.bytes - bytes >= deps.recentBytesMax);
  const reader = retryingReader(deps);
  try {
    // If no mark is old enough, the log is short, so read it from its first entry.
    const marked = from && (await entryAt(shard, from.lsn, reader));
    const first = marked?.entry ?? (await firstEntry(shard, reader));
    if (first === undefined || first.lsn.sequence >= start.lsn.sequence) return none;
    const recent = new RecentEntries(first.head, deps.recentBytesMax);
    for await (const page of readHeaders(shard, first.head, reader)) {
      for (const { entry, bytes } of page) {
        recent.add({ head: entry.head, bytes });
        if (isSameHead(entry.head, start)) return recent;
      }
      await yieldWhenDue();
    }
  } catch (error) {
    if (!(error instanceof RecoveryError)) throw error;
  }
  return none;
}

function retryingReader(deps: RecoveryDeps) {
  const read: Wal['read'] = (...args) => withRetries('read the log', deps, () => deps.wal.read(...args));
  return { wal: { read }, format: deps.format };
}

function retryingSnapshots(yieldTurn: Yield, deps: RecoveryDeps): SnapshotReaderDeps {
  const readChunks: SnapshotStore['readChunks'] = (...args) =>
    withRetries('read a snapshot', deps, () => deps.snapshots.readChunks(...args));
  return { snapshots: { readChunks }, snapshotFormat: deps.snapshotFormat, yieldTurn };
}

/** Throws a `RecoveryError` if the log relies on an archive and this node has none. */
export function mustHaveArchive(
  shard: number,
  { archived }: Pick<Recovered['totals'], 'archived'>,
  { hasArchive }: Pick<RecoveryDeps, 'hasArchive'>,
): void {
  if (hasArchive !== false || archived === undefined) return;
  throw new RecoveryError(
    `closed rounds of shard ${shard} are in an archive, up to record ${formatMark(archived)}, but no archive is configured: ` +
      'set WALLETD_ARCHIVE to the archive of this store',
  );
}

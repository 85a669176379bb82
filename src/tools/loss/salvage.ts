import { newestTimeOf, readLog, tryEntry } from '../../log/log-reader.js';
import { openReplay, Replay } from '../../log/replay.js';
import { listSnapshots } from '../../log/snapshot-reader.js';
import { formatLsn, type Lsn } from '../../ports/lsn.js';
import { NewerFormatError, RecoveryError } from '../../ports/recovery-error.js';
import type { LogMark, Manifest, SnapshotFormat, SnapshotStore } from '../../ports/snapshot-store.js';
import type { Entry, EntryFormat, Head, Wal } from '../../ports/wal.js';
import { checkWallet } from '../../wallet/invariants.js';
import { LedgerTotals } from '../../wallet/ledger-totals.js';
import type { Wallets } from '../../wallet/state/wallets.js';
import { rawEntriesAfter } from '../raw-entries.js';

export interface SalvageDeps {
  readonly wal: Pick<Wal, 'read'>;
  readonly snapshots: Pick<SnapshotStore, 'snapshots' | 'readChunks'>;
  readonly format: EntryFormat;
  readonly snapshotFormat: SnapshotFormat;
  readonly yieldTurn: () => Promise<void>;
}

/** The state of a shard that its store can still prove. */
export interface Salvaged {
  readonly wallets: Wallets;
  /** The snapshot with which the replay begins; undefined if it begins with the log. */
  readonly snapshot: Manifest | undefined;
  /** The newest entry that follows from its predecessors. */
  readonly reached: Head;
  /** The newest time up to that entry, in ms. */
  readonly timeMs: number;
  /**
   * The newest entry with events up to `reached` (or the start of the replay), and the fences after it. Each startup of
   * a server leaves one fence.
   */
  readonly ends: readonly End[];
  readonly marks: readonly LogMark[];
  readonly totals: LedgerTotals;
  readonly logBytes: number;
  /** The reason why the replay ended at `reached`; undefined if the log ends there. */
  readonly problem: string | undefined;
  /** Number of unusable entries after `reached`, not counting fences. */
  readonly beyond: number;
  /** Readable entries among the unusable ones. */
  readonly unusable: Unusable;
}

/** An entry, and the newest time up to it, in ms. */
export interface End {
  readonly lsn: Lsn;
  readonly timeMs: number;
}

/** Entries that are readable but do not follow from their predecessors. */
export interface Unusable {
  /**
   * The time of the newest event in the first and in the last of these entries, by the shard's clock, in ms; undefined
   * if there are no entries.
   */
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
  /** Players named in the events, limited to a few thousand. */
  readonly usernames: ReadonlySet<string>;
}

const USERNAMES_MAX = 5000;

/**
 * Rebuilds the provable state of a shard whose log has lost entries. Begins with the newest snapshot that the log does
 * not contradict, and replays entries as long as each follows from its predecessor. A snapshot that reaches beyond the
 * log is accepted unchanged. Rejects with a `RecoveryError` if there is nothing from which to begin.
 */
export async function salvage(shard: number, genesis: Head, deps: SalvageDeps): Promise<Salvaged> {
  let best: Salvaged | undefined;
  for await (const replay of replays(shard, genesis, deps)) {
    const salvaged = await replayed(shard, replay, deps);
    if (salvaged === undefined) continue;
    // Each failed startup has left a fence. If only fences follow the replayed part, no events are lost.
    if (salvaged.problem === undefined || salvaged.beyond === 0) return salvaged;
    if (best === undefined || salvaged.reached.lsn.sequence > best.reached.lsn.sequence) best = salvaged;
  }
  if (best !== undefined) return best;
  throw new RecoveryError(
    `shard ${shard} has neither a complete snapshot nor the beginning of its log: restore a backup into an empty store`,
  );
}

/** Replays from each undamaged snapshot, newest first, and finally from the beginning of the log. */
async function* replays(shard: number, genesis: Head, deps: SalvageDeps): AsyncGenerator<Replay> {
  const { whole } = await listSnapshots(shard, deps);
  for (const manifest of whole) {
    const opened = await openReplay(manifest, deps);
    if (opened instanceof Replay) yield opened;
  }
  yield Replay.ofNothing(genesis);
}

/** Undefined if the log contradicts the snapshot or does not reach back to its start. */
async function replayed(shard: number, replay: Replay, deps: SalvageDeps): Promise<Salvaged | undefined> {
  const { wallets, manifest: snapshot, marks, start } = replay;
  let problem: string | undefined;
  let isElsewhere = false;
  let ends: End[] = [{ lsn: start.lsn, timeMs: replay.timeMs }];
  try {
    for await (const page of readLog(shard, start, deps)) {
      for (const read of page) {
        const { entry } = read;
        isElsewhere ||= replay.contradicts(entry);
        if (isElsewhere && entry.owner === undefined) return undefined;
        checkFits(replay, entry);
        replay.take(read);
        if (entry.owner === undefined) ends = [];
        ends.push({ lsn: entry.lsn, timeMs: replay.timeMs });
      }
      await deps.yieldTurn();
    }
  } catch (error) {
    if (!(error instanceof RecoveryError) || error instanceof NewerFormatError) throw error;
    problem = error.fact;
  }
  const { head: reached, timeMs, logBytes } = replay;
  if (snapshot === undefined && reached === start && problem !== undefined) return undefined;
  for (const wallet of wallets.unpacked()) checkWallet(wallet);
  return {
    wallets,
    snapshot,
    reached,
    timeMs,
    ends,
    marks,
    totals: totalsOf(replay),
    logBytes,
    problem,
    ...(await inspectUnusable(shard, reached.lsn, deps)),
  };
}

/**
 * A snapshot's ledger totals are those at its start. If the log ends before the snapshot does, the wallets contain
 * movements that are missing from the totals, and rounds may have left memory meanwhile. The totals then count as
 * complete only from this time on, and a new audit chain begins.
 */
function totalsOf({ totals, manifest, head, timeMs }: Replay): LedgerTotals {
  const isBehind = manifest !== undefined && manifest.end.lsn.sequence > head.lsn.sequence;
  if (!isBehind) return totals;
  const known = { ...totals.toJSON(), sinceMs: timeMs, neverArchived: false, audit: undefined };
  return LedgerTotals.from(known, formatLsn(head.lsn));
}

async function inspectUnusable(
  shard: number,
  after: Lsn,
  deps: SalvageDeps,
): Promise<Pick<Salvaged, 'beyond' | 'unusable'>> {
  let beyond = 0;
  let fromMs: number | undefined;
  let toMs: number | undefined;
  const usernames = new Set<string>();
  for await (const page of rawEntriesAfter(shard, after, deps)) {
    for (const bytes of page) {
      const entry = tryEntry(bytes, deps.format);
      if (entry?.owner !== undefined) continue;
      beyond++;
      if (entry === undefined) continue;
      fromMs ??= entry.timeMs;
      toMs = newestTimeOf(entry);
      for (const { username } of entry.events) if (usernames.size < USERNAMES_MAX) usernames.add(username);
    }
    await deps.yieldTurn();
  }
  return { beyond, unusable: { fromMs, toMs, usernames } };
}

/**
 * Throws a `RecoveryError` unless all events of the entry can be applied. An entry is applied completely or not at all.
 */
function checkFits(replay: Replay, { lsn, events }: Entry): void {
  const versions = new Map<string, number>();
  for (const { username, version: next } of events) {
    const version = versions.get(username) ?? replay.wallets.get(username)?.version ?? 0;
    if (next <= version && replay.mayHold(lsn)) continue;
    if (next !== version + 1) {
      throw new RecoveryError(
        `entry ${formatLsn(lsn)} makes version ${next} of ${username}, who has version ${version}`,
      );
    }
    versions.set(username, next);
  }
}

import { maybeEntry, newestTimeOf, readLog } from '../../shard/log/log-reader.js';
import { formatLsn, type Lsn } from '../../shard/log/lsn.js';
import { NewerEntryError, RecoveryError } from '../../shard/log/recovery-error.js';
import { type Entry, type EntryFormat, type Head, isSameHead, type Wal } from '../../shard/log/wal.js';
import { DamagedSnapshotError, listSnapshots, readSnapshot } from '../../shard/snapshot/snapshot-reader.js';
import type { LogMark, Manifest, SnapshotFormat, SnapshotStore } from '../../shard/snapshot/snapshot-store.js';
import { apply } from '../../wallet/apply.js';
import type { Event } from '../../wallet/event.js';
import { checkWallet } from '../../wallet/invariants.js';
import { Wallets } from '../../wallet/state/wallets.js';
import { rawEntriesAfter } from '../raw-entries.js';

export interface SalvageDeps {
  readonly wal: Pick<Wal, 'read'>;
  readonly snapshots: Pick<SnapshotStore, 'snapshots' | 'readChunks'>;
  readonly format: EntryFormat;
  readonly snapshotFormat: SnapshotFormat;
  readonly yieldTurn: () => Promise<void>;
}

/** As much of a shard as its store still proves. */
export interface Salvaged {
  readonly wallets: Wallets;
  /** The snapshot that it begins with; undefined: the beginning of the log. */
  readonly snapshot: Manifest | undefined;
  /** The newest entry that follows from what was before. */
  readonly reached: Head;
  /** The newest time up to there. */
  readonly timeMs: number;
  readonly marks: readonly LogMark[];
  readonly logBytes: number;
  /** Why replay ended at `reached`; undefined when the log does. */
  readonly problem: string | undefined;
  /** Entries after `reached` that the log still has, and cannot be used: how many are not fences. */
  readonly beyond: number;
}

interface Start {
  readonly wallets: Wallets;
  readonly snapshot: Manifest | undefined;
  readonly head: Head;
}

/**
 * Rebuilds what can be proved of a shard whose log has lost something: begins with the newest snapshot that the log
 * does not contradict, and replays as far as entries follow one another. A snapshot that reaches beyond the log is
 * taken as it is. Rejects with a `RecoveryError` when there is nothing to begin with.
 */
export async function salvage(shard: number, genesis: Head, deps: SalvageDeps): Promise<Salvaged> {
  let best: Salvaged | undefined;
  for await (const start of starts(shard, genesis, deps)) {
    const salvaged = await replayFrom(shard, start, deps);
    if (salvaged === undefined) continue;
    // Each start that failed has left a fence. A snapshot that reaches further has lost nothing to them.
    if (salvaged.problem === undefined || salvaged.beyond === 0) return salvaged;
    if (best === undefined || salvaged.reached.lsn.sequence > best.reached.lsn.sequence) best = salvaged;
  }
  if (best !== undefined) return best;
  throw new RecoveryError(
    `shard ${shard} has neither a whole snapshot nor the beginning of its log: restore a backup into an empty store`,
  );
}

/** Newest first. */
async function* starts(shard: number, genesis: Head, deps: SalvageDeps): AsyncGenerator<Start> {
  const { whole } = await listSnapshots(shard, deps);
  for (const snapshot of whole) {
    try {
      yield { wallets: new Wallets(await readSnapshot(snapshot, deps)), snapshot, head: snapshot.start };
    } catch (error) {
      if (!(error instanceof DamagedSnapshotError)) throw error;
    }
  }
  yield { wallets: new Wallets(), snapshot: undefined, head: genesis };
}

/** Undefined when the log has gone another way than the snapshot, or does not reach back to the start. */
async function replayFrom(shard: number, start: Start, deps: SalvageDeps): Promise<Salvaged | undefined> {
  const { wallets, snapshot } = start;
  const marks = snapshot?.marks ?? [];
  let reached = start.head;
  let timeMs = snapshot?.timeMs ?? 0;
  let logBytes = marks.at(-1)?.bytes ?? 0;
  let problem: string | undefined;
  let isElsewhere = false;
  try {
    for await (const page of readLog(shard, start.head, deps)) {
      for (const { entry, bytes } of page) {
        isElsewhere ||= snapshot !== undefined && isAnotherWay(entry, snapshot.end);
        if (isElsewhere && entry.owner === undefined) return undefined;
        applyWhole(wallets, entry, snapshot?.end.lsn.sequence ?? 0);
        reached = entry.head;
        timeMs = Math.max(timeMs, newestTimeOf(entry));
        logBytes += bytes.length;
      }
      await deps.yieldTurn();
    }
  } catch (error) {
    if (!(error instanceof RecoveryError) || error instanceof NewerEntryError) throw error;
    problem = error.fact;
  }
  if (snapshot === undefined && reached === start.head && problem !== undefined) return undefined;
  for (const wallet of wallets.touched()) checkWallet(wallet);
  const beyond = await countBeyond(shard, reached.lsn, deps);
  return { wallets, snapshot, reached, timeMs, marks, logBytes, problem, beyond };
}

async function countBeyond(shard: number, after: Lsn, deps: SalvageDeps): Promise<number> {
  let count = 0;
  for await (const page of rawEntriesAfter(shard, after, deps)) {
    count += page.filter((bytes) => maybeEntry(bytes, deps.format)?.owner === undefined).length;
    await deps.yieldTurn();
  }
  return count;
}

/** An entry in the place of one that the snapshot holds. */
function isAnotherWay({ lsn, head }: Entry, end: Head): boolean {
  if (lsn.sequence > end.lsn.sequence) return false;
  return lsn.epoch > end.lsn.epoch || (lsn.sequence === end.lsn.sequence && !isSameHead(head, end));
}

/** All of the entry, or a `RecoveryError` and nothing of it. */
function applyWhole(wallets: Wallets, entry: Entry, heldUpTo: number): void {
  const versions = new Map<string, number>();
  const fresh: Event[] = [];
  for (const event of entry.events) {
    const { username } = event;
    const version = versions.get(username) ?? wallets.get(username)?.version ?? 0;
    if (event.version <= version && entry.lsn.sequence <= heldUpTo) continue;
    if (event.version !== version + 1) {
      throw new RecoveryError(
        `entry ${formatLsn(entry.lsn)} makes version ${event.version} of ${username}, who has version ${version}`,
      );
    }
    versions.set(username, event.version);
    fresh.push(event);
  }
  for (const event of fresh) apply(wallets, event);
}

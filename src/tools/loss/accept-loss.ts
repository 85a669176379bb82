import type { Logger } from '../../base/logger.js';
import type { OnProgress } from '../../base/progress.js';
import { type RecoveryDeps, rebuild } from '../../log/recovery.js';
import { listSnapshots } from '../../log/snapshot-reader.js';
import { type TakeOverDeps, takeOver } from '../../log/take-over.js';
import type { Archive, ArchiveRecord } from '../../ports/archive.js';
import { compareLsn, formatLsn, type Lsn, SKIPPED_EPOCHS } from '../../ports/lsn.js';
import { NewerFormatError, RecoveryError } from '../../ports/recovery-error.js';
import { isPermanent } from '../../ports/retry-policy.js';
import { type EntryFormat, type Head, isSameHead, type Owner, type Takeover } from '../../ports/wal.js';
import { KnownSnapshots } from '../../snapshot/known-snapshots.js';
import { IMMEDIATE, type SnapshotSubject, Snapshotter, type SnapshotterDeps } from '../../snapshot/snapshotter.js';
import { nameOfSerialized } from '../../wallet/state/serialized-round.js';
import type { Wallets } from '../../wallet/state/wallets.js';
import { rawEntriesAfter } from '../raw-entries.js';
import { ToolError } from '../store-reader.js';
import { type Salvaged, salvage } from './salvage.js';

/*
 * A shard refuses to start if its log has lost entries that may have been acknowledged. `findLosses` finds the reason,
 * and salvage.ts determines how much of the state can still be proved. `acceptLoss` takes over the shard and publishes
 * the provable state as a snapshot at the head of the log. The fence records that a loss was accepted: entries after it
 * do not follow from the entries before it.
 */

export interface AcceptLossDeps extends RecoveryDeps, TakeOverDeps, Pick<SnapshotterDeps, 'policy' | 'newId'> {
  readonly format: EntryFormat;
  /** Undefined if there is no archive. */
  readonly archive?: Archive | undefined;
  readonly log: Logger;
  readonly genesis: (shard: number) => Head;
  /** Saves entries in a file for later examination. Resolves to the path of the file. */
  readonly keepEntries: (shard: number, pages: AsyncIterable<readonly Buffer[]>) => Promise<string>;
}

/** The reason why a shard does not start, and the state that can be saved. */
export interface Loss {
  readonly shard: number;
  /** The head of the log when it was examined. */
  readonly found: Head;
  /** The reason that a server would report at startup. */
  readonly reason: string;
  readonly salvaged: Salvaged;
}

export interface Repaired {
  readonly shard: number;
  /** Fence after which the shard continues. */
  readonly head: Head;
  readonly players: number;
  /** The file with the unusable entries; undefined if there were none. */
  readonly kept: string | undefined;
}

/**
 * Finds the shards that would refuse to start, and the provable state of each. Writes nothing. Throws a `ToolError` if
 * a newer walletd has written an entry or a snapshot that this one cannot read.
 */
export async function findLosses(
  shards: readonly number[],
  deps: AcceptLossDeps,
  onProgress: OnProgress = () => {},
): Promise<readonly Loss[]> {
  const losses: Loss[] = [];
  for (const [done, shard] of shards.entries()) {
    onProgress(done, shards.length);
    const found = await deps.wal.head(shard);
    const genesis = deps.genesis(shard);
    try {
      await rebuild({ shard, genesis, found, target: found }, deps);
    } catch (error) {
      if (!isPermanent(error)) throw error;
      if (error instanceof NewerFormatError) throw notOurs(error);
      losses.push({
        shard,
        found,
        reason: error instanceof RecoveryError ? error.fact : (error as Error).message,
        salvaged: await salvage(shard, genesis, deps),
      });
    }
  }
  return losses;
}

/**
 * Makes a shard continue from its provable state: takes over the shard, and publishes that state as a snapshot at the
 * fence. The log is not changed, and its unusable entries are also saved in a file. Throws if the log has been written
 * to since the loss was found.
 */
export async function acceptLoss({ shard, found, salvaged }: Loss, deps: AcceptLossDeps): Promise<Repaired> {
  const { wallets, totals, beyond, marks, logBytes, reached, snapshot } = salvaged;
  // The newest entry with events. Refused startups have left fences after it, with the sequence numbers of lost entries.
  const [replayedTo = reached] = salvaged.ends;
  checkUntouched(shard, await deps.wal.head(shard), found);
  const kept = beyond === 0 ? undefined : await deps.keepEntries(shard, rawEntriesAfter(shard, reached.lsn, deps));
  await deps.archive?.dropAfter(shard, replayedTo.lsn, isAbandonedIn(wallets, snapshot?.end.lsn));
  const { whole } = await listSnapshots(shard, deps);
  const known = [found, deps.acknowledged(shard), ...whole.map(({ end }) => end)];
  const newestEpoch = Math.max(...known.map((one) => one?.lsn.epoch ?? 0));
  // Take the latest of these times, because this machine's clock may be behind the shard's clock, and no wallet may be
  // newer than its snapshot.
  const earliestMs = Math.max(deps.clock.now(), salvaged.timeMs, ...whole.map((manifest) => manifest.timeMs));
  const clock = { now: () => earliestMs, monotonicMs: () => deps.clock.monotonicMs() };
  const isWhole = isFoldOf(found, salvaged);
  const owner: Owner = { ...deps.owner, ...(isWhole ? { acceptsLoss: true } : { afterLoss: true }) };
  // Other nodes may have acknowledged entries, and consumers of the feed may have read them, in later epochs that are lost.
  // The epoch must be newer, so that the nodes accept the loss, and no id of an event is used twice.
  const skippedEpochs = newestEpoch - found.lsn.epoch + SKIPPED_EPOCHS;
  const [fenced] = await takeOver([shard], { ...deps, owner, clock, skippedEpochs });
  checkUntouched(shard, fenced?.previous, found);
  const { entry } = fenced as Takeover;
  const { head } = entry;
  const timeMs = Math.max(earliestMs, deps.format.decode(entry.bytes).timeMs);
  const applied = head.lsn.sequence;
  const subject: SnapshotSubject = {
    id: shard,
    source: { wallets, totals, head, applied, timeMs, logBytes, entriesSinceSnapshot: 1 },
    snapshotTaken() {},
  };
  const snapshotter = new Snapshotter({ ...deps, policy: { ...deps.policy, keep: Number.POSITIVE_INFINITY } });
  const snapshots = new KnownSnapshots();
  snapshots.recovered(marks);
  const result = await snapshotter.take(subject, snapshots, IMMEDIATE);
  if (result.type !== 'taken') {
    const why = result.type === 'abandoned' ? result.reason : 'nothing was written';
    throw new Error(`shard ${shard} could not be repaired (${formatLsn(head.lsn)}): ${why}`);
  }
  return { shard, head, players: wallets.count, kept };
}

/**
 * Returns a function that names the records, among those after the replayed log, with rounds that the wallets lack. The
 * wallets of a snapshot that ends beyond that log contain the changes up to different entries before `end`, and have let
 * go of the rounds that were archived before these. A round that was restored and archived again in between counts as
 * contained.
 */
function isAbandonedIn(wallets: Wallets, end: Lsn | undefined): (record: ArchiveRecord) => boolean {
  return ({ lsn, ids, image }) => {
    if (end === undefined || compareLsn(lsn, end) > 0) return true;
    const { username } = nameOfSerialized(image);
    const newest = Math.max(...ids.map(({ version }) => version));
    return newest > (wallets.peek(username)?.version ?? 0);
  };
}

function notOurs({ message }: NewerFormatError): ToolError {
  return new ToolError(`${message}; nothing is lost`);
}

/** True if replaying the log up to this head gives exactly these wallets, so that only the end of the log was lost. */
function isFoldOf(found: Head, { problem, reached, snapshot }: Salvaged): boolean {
  const end = snapshot?.end.lsn.sequence ?? 0;
  return problem === undefined && isSameHead(reached, found) && end <= found.lsn.sequence;
}

function checkUntouched(shard: number, head: Head | undefined, expected: Head): void {
  if (head !== undefined && isSameHead(head, expected)) return;
  throw new RecoveryError(`the log of shard ${shard} has been written to since it was examined: run the command again`);
}

import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay, setImmediate as yieldTurn } from 'node:timers/promises';
import { systemClock } from '../base/clock.js';
import { silentLogger } from '../base/logger.js';
import type { Settings } from '../config/schema.js';
import { describeOwner, ownerOf } from '../log/take-over.js';
import { newSnapshotId, policyOf } from '../node/boot/shard-thread.js';
import type { ArchivedStore } from '../node/drivers/open-store.js';
import { StoreError } from '../node/drivers/store-error.js';
import { FeedConsumers } from '../node/jobs/feed/feed-consumers.js';
import { readerOf } from '../node/settings/reader-of.js';
import { ATTEMPTS_AT_START } from '../ports/retry-policy.js';
import type { Owner } from '../ports/wal.js';
import type { SnapshotterDeps } from '../snapshot/snapshotter.js';
import { formatsOf } from '../store/format/store-formats.js';
import type { NodeRecord } from '../store/node-record.js';
import { writeEntries } from '../store/orphans-file.js';
import type { AcceptLossDeps } from '../tools/loss/accept-loss.js';

/** The option with which an operator confirms that a server on another machine is stopped. */
export const STOPPED_OPTION = ['--stopped', 'confirm that the server that last owned the store is stopped'] as const;

/** Dependencies for work on the shards of a store that no server owns. */
export function stoppedStoreDeps(
  settings: Settings,
  { store, meta, archive }: Pick<ArchivedStore, 'store' | 'meta' | 'archive'>,
  record: NodeRecord,
): AcceptLossDeps & Pick<SnapshotterDeps, 'consumers'> {
  record.addOtherAddresses(meta.storeId);
  return {
    ...formatsOf(meta),
    archive,
    wal: store.wal,
    snapshots: store.snapshots,
    clock: systemClock,
    log: silentLogger,
    delay,
    attemptsMax: ATTEMPTS_AT_START,
    yieldTurn,
    recentBytesMax: 0,
    acknowledged: (shard) => record.acknowledged(shard),
    owner: { host: hostname(), pid: process.pid, startedMs: Date.now() },
    newNonce: () => randomBytes(8).toString('hex'),
    policy: policyOf(settings, meta),
    consumers: new FeedConsumers(store, readerOf(store, meta)),
    newId: newSnapshotId,
    keepEntries: (shard, pages) => writeEntries(settings.nodeFolder, `lost-${shard}-${Date.now()}`, pages),
  };
}

/**
 * Throws a `StoreError` while the last owner of a shard may still be running. Processes on this machine are checked
 * automatically. For a process on another machine, the operator has to confirm.
 */
export async function requireStopped(
  shards: readonly number[],
  deps: AcceptLossDeps,
  isVouchedFor: boolean,
): Promise<void> {
  if (isVouchedFor) return;
  for (const shard of shards) {
    const head = await deps.wal.head(shard);
    if (head.lsn.sequence === 0) continue;
    const owner = await ownerOf(shard, head, deps).catch(() => undefined);
    if (owner === undefined) {
      throw new StoreError(
        `the log of shard ${shard} no longer names its owner: if no server is running on it, add --stopped`,
      );
    }
    const name = describeOwner(owner);
    if (owner.host !== hostname()) {
      throw new StoreError(`the last owner of shard ${shard} is ${name}: if that process has stopped, add --stopped`);
    }
    if (owner.pid === process.pid) {
      throw new StoreError(
        `the last owner of shard ${shard} is ${name}, which may be process 1 of another container of the same name: ` +
          'if that process has stopped, add --stopped',
      );
    }
    if (isAlive(owner)) {
      throw new StoreError(
        `shard ${shard} is owned by ${name}. A process with this id is running, and this command requires a stopped server; ` +
          'if that process is not walletd, add --stopped',
      );
    }
  }
}

/** True if a process on this machine has the owner's process id. */
export function isAlive({ pid }: Owner): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

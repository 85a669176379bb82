import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay, setImmediate as yieldTurn } from 'node:timers/promises';
import { systemClock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Settings } from '../config/schema.js';
import { StoreError } from '../node/open-store.js';
import { newSnapshotId, policyOf } from '../node/shard-thread.js';
import { ATTEMPTS_AT_START } from '../shard/log/patience.js';
import { describeOwner, ownerOf } from '../shard/log/take-over.js';
import type { Owner } from '../shard/log/wal.js';
import { formatsOf } from '../store/format/store-formats.js';
import type { StoreMeta } from '../store/meta.js';
import type { NodeRecord } from '../store/node-record.js';
import { writeEntries } from '../store/orphans-file.js';
import type { Store } from '../store/store.js';
import type { AcceptLossDeps } from '../tools/loss/accept-loss.js';

/** What works on the shards of a store that no server runs on. */
export function offlineDeps(
  settings: Settings,
  { store, meta }: { readonly store: Store; readonly meta: StoreMeta },
  record: NodeRecord,
  log: Logger,
): AcceptLossDeps {
  return {
    ...formatsOf(meta),
    wal: store,
    snapshots: store,
    clock: systemClock,
    log,
    delay,
    attemptsMax: ATTEMPTS_AT_START,
    yieldTurn,
    recentBytesMax: 0,
    acknowledged: (shard) => record.acknowledged(shard),
    owner: { host: hostname(), pid: process.pid, startedMs: Date.now() },
    newNonce: () => randomBytes(8).toString('hex'),
    policy: policyOf(settings, meta),
    newId: newSnapshotId,
    keepEntries: (shard, pages) => writeEntries(settings.nodeFolder, `lost-${shard}-${Date.now()}`, pages),
  };
}

/**
 * Throws a `StoreError` while the last owner of a shard may still run: here that can be seen, of another machine
 * somebody has to say it.
 */
export async function mustBeStopped(
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
        `the log of shard ${shard} does not name its owner any more: when no server runs on it, say so with --stopped`,
      );
    }
    const name = describeOwner(owner);
    if (owner.host !== hostname()) {
      throw new StoreError(`the last owner of shard ${shard} is ${name}: when it is stopped, say so with --stopped`);
    }
    if (owner.pid === process.pid) {
      throw new StoreError(
        `the last owner of shard ${shard} is ${name}, which may be the process 1 of another container with the name of ` +
          'this one: when it is stopped, say so with --stopped',
      );
    }
    if (isAlive(owner)) {
      throw new StoreError(
        `shard ${shard} is owned by ${name}. A process with this id runs: this works on a stopped server only. When that ` +
          'process is not a walletd, say so with --stopped',
      );
    }
  }
}

function isAlive({ pid }: Owner): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

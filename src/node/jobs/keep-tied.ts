import type { Logger } from '../../base/logger.js';
import { messageOf } from '../../base/message-of.js';
import type { Cancel, Timers } from '../../base/timers.js';
import type { Head } from '../../ports/wal.js';
import type { MetaStore } from '../../store/store.js';

const LOOK_MS = 1000;

export interface KeepTiedDeps {
  readonly storeId: string;
  /** The ID of the archive that this process uses; undefined if it is not known yet. */
  readonly archiveId: () => string | undefined;
  readonly meta: Pick<MetaStore, 'peek' | 'replaceArchive'>;
  /** Any shard that this process serves; undefined if there is none. */
  readonly findServed: () => number | undefined;
  readonly headOf: (shard: number) => Promise<Head>;
  /** The prefix of the nonces of everything that this process writes. */
  readonly ownerTag: string;
  readonly timers: Timers;
  readonly log: Logger;
}

/**
 * Keeps the archive ID in the store's meta record equal to the archive that this process uses. If a store is restored
 * while a server is running on it, the record names the restored archive, but the server's closed rounds are in its own
 * archive. Only a process that owns a log rewrites the record; a process that has been fenced must not change it.
 */
export function keepTied(deps: KeepTiedDeps): Cancel {
  let isLooking = false;
  return deps.timers.every(LOOK_MS, () => {
    if (isLooking) return;
    isLooking = true;
    look(deps)
      // During a store outage, the content of the record is unknown.
      .catch((error: unknown) => deps.log.debug({ error: messageOf(error) }, 'cannot read the meta record'))
      .finally(() => {
        isLooking = false;
      });
  });
}

async function look({ storeId, archiveId, meta, findServed, headOf, ownerTag, log }: KeepTiedDeps): Promise<void> {
  const [mine, shard] = [archiveId(), findServed()];
  if (mine === undefined || shard === undefined) return;
  const found = await meta.peek();
  if (found?.storeId !== storeId || found.archiveId === mine) return;
  if (!(await headOf(shard)).nonce.startsWith(ownerTag)) return;
  const named = await meta.replaceArchive(found.archiveId, mine);
  if (named.archiveId !== mine) return;
  log.warn(
    { code: 'archive-tied-again', archiveId: mine, restored: found.archiveId },
    'restored store linked to the archive in use again',
  );
}

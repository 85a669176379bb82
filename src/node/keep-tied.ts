import type { Logger } from '../base/logger.js';
import { messageOf } from '../base/message-of.js';
import type { Cancel, Timers } from '../base/timers.js';
import type { Head } from '../shard/log/wal.js';
import type { MetaStore } from '../store/store.js';

const LOOK_MS = 1000;

export interface KeepTiedDeps {
  readonly storeId: string;
  /** Id of the archive that rounds are put into; undefined while nothing is known of it. */
  readonly archiveId: () => string | undefined;
  readonly meta: Pick<MetaStore, 'peek' | 'replaceArchive'>;
  /** A shard that is served here, if there is one. */
  readonly findServed: () => number | undefined;
  readonly headOf: (shard: number) => Promise<Head>;
  /** Begins the nonces of all that this process writes. */
  readonly ownerTag: string;
  readonly timers: Timers;
  readonly log: Logger;
}

/**
 * Has the record of the store name the archive that this process uses. A store that was restored beneath a server names the archive
 * of the restore, and the rounds that left memory are in the one of the server. Only the owner of a log does this: whoever has been
 * fenced must not touch the record.
 */
export function keepTied(deps: KeepTiedDeps): Cancel {
  let isLooking = false;
  return deps.timers.every(LOOK_MS, () => {
    if (isLooking) return;
    isLooking = true;
    look(deps)
      // In an outage nothing is known.
      .catch((error: unknown) => deps.log.debug({ error: messageOf(error) }, 'cannot look at the meta record'))
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
    'restored store named another archive: it names the one in use again',
  );
}

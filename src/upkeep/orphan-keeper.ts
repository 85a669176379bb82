import type { Logger } from '../base/logger.js';
import type { Cancel, Timers } from '../base/timers.js';
import type { Shard } from '../engine/shard.js';
import { findOrphans } from '../log/orphans.js';
import { formatLsn } from '../ports/lsn.js';
import type { EncodedEntry, EntryFormat, Wal } from '../ports/wal.js';

export interface OrphanKeeperDeps {
  readonly wal: Wal;
  readonly format: EntryFormat;
  readonly log: Logger;
  readonly timers: Timers;
  /** Writes to a file the entries that the log has permanently lost. Resolves with the file's path. */
  readonly writeOrphans: (shard: number, entries: readonly EncodedEntry[]) => Promise<string>;
}

/** Time limit for reading the log. The limit is short, because the process is probably shutting down. */
const READ_MS = 1000;

/** A shard of the thread, with the end of the writes of its orphans. */
interface OrphanedShard {
  readonly shard: Shard;
  orphansWritten: Promise<void>;
}

/** Saves acknowledged entries that the logs no longer contain, so that they survive this process. */
export class OrphanKeeper {
  /** Names of the entries that are in a file. */
  private readonly inFiles = new Set<string>();

  constructor(private readonly deps: OrphanKeeperDeps) {}

  /**
   * Saves the entries that a shard's log has lost. May be called repeatedly, because a log may lose more entries later.
   * Each entry is written to only one file.
   */
  keep(orphaned: OrphanedShard): Promise<void> {
    orphaned.orphansWritten = orphaned.orphansWritten.then(() => this.write(orphaned.shard));
    return orphaned.orphansWritten;
  }

  private async write(shard: Shard): Promise<void> {
    const { wal, format, log, timers } = this.deps;
    const acknowledged = shard.recentEntries;
    const isNew = (entry: EncodedEntry) => !this.inFiles.has(nameOf(shard, entry));
    if (!acknowledged.some(isNew)) return;
    const asked: Pick<Wal, 'head' | 'read'> = {
      head: (...of) => inTime(timers, wal.head(...of)),
      read: (...range) => inTime(timers, wal.read(...range)),
    };
    const orphans = (await findOrphans(asked, format, shard.id, acknowledged)).filter(isNew);
    if (orphans.length === 0) return;
    for (const entry of orphans) this.inFiles.add(nameOf(shard, entry));
    try {
      const path = await this.deps.writeOrphans(shard.id, orphans);
      log.error(
        { code: 'orphans-kept', shard: shard.id, entries: orphans.length, path },
        'acknowledged entries lost or unverified, kept in a file',
      );
    } catch (error) {
      const bytes = orphans.map((entry) => entry.bytes.toString('base64'));
      const { message } = error as Error;
      log.error(
        { code: 'orphans-not-kept', shard: shard.id, error: message, bytes },
        'acknowledged entries lost or unverified, cannot be kept in a file',
      );
    }
  }
}

/** Waits for the result, but rejects after `READ_MS`. The read itself may continue. */
async function inTime<T>(timers: Timers, result: Promise<T>): Promise<T> {
  let cancel: Cancel = () => {};
  const late = new Promise<never>((_, reject) => {
    cancel = timers.after(READ_MS, () => reject(new Error(`no answer in ${READ_MS} ms`)));
  });
  try {
    return await Promise.race([result, late]);
  } finally {
    cancel();
  }
}

/** Text that only this entry of the store has. */
function nameOf({ id }: Shard, { head: { lsn, nonce, checksum } }: EncodedEntry): string {
  return `${id} ${formatLsn(lsn)} ${nonce} ${checksum}`;
}

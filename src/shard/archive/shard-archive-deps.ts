import type { Clock } from '../../base/clock.js';
import type { HashKey } from '../../base/keyed-hash.js';
import type { Logger } from '../../base/logger.js';
import type { ArchiveMark } from '../../wallet/archive-mark.js';
import type { Archive } from './archive.js';

export interface ShardArchiveDeps {
  readonly archive: Archive;
  readonly retentionMs: number;
  /** The newest record of the archive that the shard's log relies on. */
  readonly required: () => ArchiveMark | undefined;
  /** Secret of new sets of names; saved ones bring the key that they were made with. */
  readonly hashKey: HashKey;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer: ArchiveObserver;
  /** Runs the callback once the events of this turn of the event loop have been handled. */
  readonly defer: (callback: () => void) => void;
  /** Lets other work of the thread run. */
  readonly yieldTurn: () => Promise<void>;
  readonly delay: (ms: number) => Promise<void>;
}

/** Counts what goes to an archive and what comes from it. */
export interface ArchiveObserver {
  /** A request waited for this; `found` is false when nothing was there. */
  looked(shard: number, found: boolean, tookMs: number): void;
  archived(shard: number, rounds: number): void;
  archiveFailed(shard: number): void;
}

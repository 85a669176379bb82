import type { Clock } from '../../base/clock.js';
import type { HashKey } from '../../base/keyed-hash.js';
import type { Logger } from '../../base/logger.js';
import type { ArchiveMark } from '../../wallet/archive-mark.js';
import type { Head } from '../log/wal.js';
import type { Archive } from './archive.js';
import type { NamesFile } from './names-file.js';

export interface ShardArchiveDeps {
  readonly archive: Archive;
  readonly retentionMs: number;
  /** The newest record of the archive that the shard's log relies on. */
  readonly required: () => ArchiveMark | undefined;
  /** The newest durable entry of the shard's log, while it is served here. */
  readonly head: () => Head | undefined;
  /** Files of names for a start without the archive; undefined where the archive is on this machine, too. */
  readonly names: NamesFile | undefined;
  /** True when the shard's log has this entry. Rejects where that cannot be told. */
  readonly isInLog: (head: Head) => Promise<boolean>;
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

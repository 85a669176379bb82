import type { Clock } from '../base/clock.js';
import type { HashKey } from '../base/keyed-hash.js';
import type { Logger } from '../base/logger.js';
import type { Archive } from '../ports/archive.js';
import type { KeyFile } from '../ports/key-file.js';
import type { Head } from '../ports/wal.js';
import type { ArchiveMark } from '../wallet/archive-mark.js';

export interface ShardArchiveDeps {
  readonly archive: Archive;
  readonly retentionMs: number;
  /** The newest archive record that the shard's log relies on. */
  readonly required: () => ArchiveMark | undefined;
  /** The newest durable entry of the shard's log while this node serves it. */
  readonly head: () => Head | undefined;
  /**
   * The file that saves the keys, with which a node can start without the archive. Undefined if the archive is on this
   * machine itself.
   */
  readonly names: KeyFile | undefined;
  /** True if the shard's log contains the entry with this head. Rejects if this cannot be determined. */
  readonly isInLog: (head: Head) => Promise<boolean>;
  /** Secret key for new key filters. Saved filters have their own key. */
  readonly hashKey: HashKey;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer: ArchiveObserver;
  /** Runs the callback once all events of this event-loop iteration have been handled. */
  readonly defer: (callback: () => void) => void;
  /** Lets the thread's other work run. */
  readonly yieldTurn: () => Promise<void>;
  readonly delay: (ms: number) => Promise<void>;
}

/** Counts lookups in the archive and puts into it. */
export interface ArchiveObserver {
  /** Called when a lookup for a request has ended. `found` is false if the archive had no matching round. */
  looked(shard: number, found: boolean, tookMs: number): void;
  archived(shard: number, rounds: number): void;
  archiveFailed(shard: number): void;
}

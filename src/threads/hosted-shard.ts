import type { ShardArchive } from '../archive/shard-archive.js';
import { RestartBudget } from '../base/restart-budget.js';
import type { Cancel } from '../base/timers.js';
import type { Shard } from '../engine/shard.js';
import { KnownSnapshots } from '../snapshot/known-snapshots.js';
import type { MoveResult } from './shards.js';

/** The load of a shard from its snapshot and log. It ends with the shard followed, or not loaded. */
export interface Load {
  result: Promise<MoveResult>;
  /** True if callbacks wait for the shard. All loads then run without pauses. */
  isAwaited: boolean;
  /** Starts a load that waits for a slot; undefined before and after that wait. */
  begin: (() => void) | undefined;
}

/** A shard of this thread, with everything that the thread keeps about it. */
export class HostedShard {
  readonly restarts = new RestartBudget();
  readonly snapshots = new KnownSnapshots();
  /** The load in progress. */
  load: Load | undefined = undefined;
  /** Cancels the timer that ends the shard's pause for a hand-over. */
  cancelResume: Cancel = () => {};
  /** Resolves once the shard's orphans are in files. The process must not end before that. */
  orphansWritten: Promise<void> = Promise.resolve();
  /** Number of players that the housekeeper must examine. The fraction accumulates. */
  playersDue = 0;

  constructor(
    readonly shard: Shard,
    readonly archive: ShardArchive | undefined,
  ) {}
}

import type { Claim } from '../ports/table.js';
import type { Head, Position } from '../ports/wal.js';
import type { ShardStatus } from '../threads/shards.js';

/** This node's role for one shard in the assignment. */
export type Role = 'owner' | 'follower' | 'none';

/**
 * Writer of the log's newest fence, as this node sees it.
 *
 *   `unknown`  the head has not been read
 *   `nobody`   there is no fence, or its writer has released the shard
 *   `stuck`    the writer reports that it cannot reach the log
 */
export type Holder = 'unknown' | 'nobody' | 'me' | 'alive' | 'stuck' | 'gone';

/** Another node that the assignment names as owner of the shard. */
export interface NewOwner {
  readonly tag: string;
  readonly isLinked: boolean;
  readonly isGone: boolean;
  /** The new owner's monotonic clock minus this node's; undefined before its first heartbeat. */
  readonly clockAheadMs: number | undefined;
}

/** All facts about one replica at one time. A transition reads nothing else. */
export interface Facts {
  readonly nowMs: number;
  /** The tag of this process. */
  readonly me: string;
  /** True once the registry has an assignment. */
  readonly isPlanned: boolean;
  readonly role: Role;
  readonly local: Pick<ShardStatus, 'state' | 'head' | 'pendingAppendMs' | 'lacksNames' | 'reason'>;
  readonly holder: Holder;
  /** The newest head that was read; undefined if the last read failed. */
  readonly head: Head | undefined;
  /** The human-readable name of the head's writer. */
  readonly holderName: string;
  /** True if the head has not moved for a while. */
  readonly isLogIdle: boolean;
  /** The newest entry that any node may have acknowledged. */
  readonly acknowledged: Position | undefined;
  /** Ownership record of the shard in the registry. */
  readonly recorded: Claim | undefined;
  /** Assigned owner, if that is another node. */
  readonly newOwner: NewOwner | undefined;
  /** True if another live node is assigned to own or to follow the shard. */
  readonly hasOtherTaker: boolean;
  /** True if this node should serve the shard, and no live owner serves it: callbacks wait. */
  readonly isUnserved: boolean;
  /** True if the recorded owner is another node that may be dead or stuck. */
  readonly isOwnerSuspect: boolean;
  /** True while this node loads shards that it should serve. They come before the shards that it follows. */
  readonly loadsOwn: boolean;
  /** False if this node's clock cannot be trusted. The node then takes no shards. */
  readonly isClockSane: boolean;
  /** False while this node hands over as many shards as it may at once. */
  readonly mayHandOver: boolean;
}

import type { Head } from '../ports/wal.js';
import type { Move } from '../threads/shards.js';

/**
 * Relation of this node to one shard. In the states of the second group a command runs on the shard's thread, and its
 * result leads out of the state; `offered` waits for the new owner instead.
 *
 *                 follow          take           pause            offer
 *   remote ─> loading ─> standby ─> taking ─> serving ─> pausing ─> offered
 *     ^                   │  ^                 │  ^  ^      │          │
 *     │                   │  │           fails │  │  └──────┴─ resume ─┤
 *     └─ leave ─ settling ┘  │                 v  │                    │
 *                            │         recovering ┘                    │
 *                            └───────────── settling ─── release ──────┘
 *
 *   `remote`      the wallets are not in memory here
 *   `standby`     this node follows the log of another owner
 *   `serving`     this node owns the log and answers callbacks
 *   `recovering`  the shard failed an assertion and takes its own log over again, or has just been fenced
 *   `paused`      the shard decides nothing, and no hand-over runs here
 *   `stopped`     an operator must repair the log
 *
 *   `loading`     reads snapshot and log
 *   `taking`      writes the fence
 *   `pausing`     waits until every decided entry is durable
 *   `offered`     waits until the new owner serves the shard
 *   `settling`    ends a pause, unloads, abandons or stops
 */
export const REPLICA_STATES = [
  'remote',
  'loading',
  'standby',
  'taking',
  'serving',
  'pausing',
  'offered',
  'settling',
  'recovering',
  'paused',
  'stopped',
] as const;
export type ReplicaState = (typeof REPLICA_STATES)[number];

/** A pause of the shard, so that another node can take it over. */
export interface Handover {
  /** The tag of the new owner; undefined if the shard is released to the node that reads the registry first. */
  readonly to: string | undefined;
  readonly sinceMs: number;
  /** The epoch in which this node served before the pause. */
  readonly epoch: number;
  /** The head at which the shard stands; undefined until the pause is complete. */
  readonly head: Head | undefined;
}

/** Cause for which a replica waits; see `explain`. */
export type Cause =
  | 'nothing'
  | 'elsewhere'
  | 'assignment'
  | 'own-shards'
  | 'load'
  | 'retry'
  | 'other-node'
  | 'clock'
  | 'head'
  | 'idle-log'
  | 'key-filter'
  | 'owner'
  | 'fence'
  | 'pending-appends'
  | 'new-owner'
  | 'new-owner-link'
  | 'hand-over-request'
  | 'command'
  | 'recovery'
  | 'operator';

/** The event for which a replica waits, and the action that follows. */
export interface Wait {
  readonly cause: Cause;
  /** The tag of the node whose action ends the wait. */
  readonly node: string | undefined;
  /** The next action of this node, and its time at the latest; undefined if this node only waits. */
  readonly next: { readonly action: string; readonly atMs: number } | undefined;
}

/** Everything that this node knows and plans about one of its shards. Times are on the monotonic clock. */
export interface Replica {
  readonly shard: number;
  readonly state: ReplicaState;
  readonly sinceMs: number;
  readonly wait: Wait;
  /** The epoch in which callbacks are routed to this node; undefined while it does not serve. */
  readonly epoch: number | undefined;
  /** True from the first service until the shard is released, abandoned or fenced. Survives pauses and recoveries. */
  readonly isHeld: boolean;
  /** The newest epoch that another node announced during a recovery here. */
  readonly othersEpoch: number | undefined;
  /** The epoch of a release that the registry does not show yet. */
  readonly releasedEpoch: number | undefined;
  /**
   * The command that runs on the shard's thread. Set in `loading`, `taking`, `pausing` and `settling`, and in
   * `recovering` after a failed assertion.
   */
  readonly command: Move['type'] | undefined;
  /** Set in `pausing` and `offered`, and while a pause ends in `settling`. */
  readonly handover: Handover | undefined;
  /** Set in `taking`: whether the old owner offered the shard. */
  readonly how: 'handed-over' | 'taken';
  /** True while callbacks wait for the load, which then does not pause for other work. */
  readonly isUrgent: boolean;
  /** No command starts before this time. */
  readonly restUntilMs: number;
  /** The shard is not paused for a hand-over before this time. */
  readonly keptUntilMs: number;
  /** The shard is left to another node until this time, because its thread has ended here. */
  readonly lostUntilMs: number;
  /** No hand-over is requested before this time. */
  readonly wantFromMs: number;
  readonly lookFromMs: number;
  /** Since when the living owner has been asked for the shard; undefined if it has not. */
  readonly askedSinceMs: number | undefined;
  /** Since when this node could take the shard, except that the log does not answer. */
  readonly unseenSinceMs: number | undefined;
  /** Since when the shard stays with its owner because this node lacks the key filter. */
  readonly namelessSinceMs: number | undefined;
  readonly isNamelessLogged: boolean;
  /** Since when the log is known to lack acknowledged entries. */
  readonly shortSinceMs: number | undefined;
  /** Since when the assigned new owner is alive without a link to this node. */
  readonly unlinkedSinceMs: number | undefined;
  /** The head of the log when the shard was first seen stopped. */
  readonly stoppedAt: Head | undefined;
  /** Permanent failures in a row. */
  readonly failures: number;
  /** The last problem, which is logged only once. */
  readonly problem: string | undefined;
  /** True once this process ends: the shard is released, and not taken again. */
  readonly isEnding: boolean;
}

const NEVER = Number.NEGATIVE_INFINITY;

export function newReplica(shard: number, nowMs: number): Replica {
  return {
    shard,
    state: 'remote',
    sinceMs: nowMs,
    wait: { cause: 'assignment', node: undefined, next: undefined },
    epoch: undefined,
    isHeld: false,
    othersEpoch: undefined,
    releasedEpoch: undefined,
    command: undefined,
    handover: undefined,
    how: 'taken',
    isUrgent: false,
    restUntilMs: NEVER,
    keptUntilMs: NEVER,
    lostUntilMs: NEVER,
    wantFromMs: NEVER,
    lookFromMs: NEVER,
    askedSinceMs: undefined,
    unseenSinceMs: undefined,
    namelessSinceMs: undefined,
    isNamelessLogged: false,
    shortSinceMs: undefined,
    unlinkedSinceMs: undefined,
    stoppedAt: undefined,
    failures: 0,
    problem: undefined,
    isEnding: false,
  };
}

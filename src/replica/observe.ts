import type { ShardState } from '../engine/shard.js';
import { isSameHead } from '../ports/wal.js';
import type { Effect } from './effect.js';
import type { Facts } from './facts.js';
import { become, type Outcome } from './outcome.js';
import type { Replica, ReplicaState } from './replica.js';
import { TIMERS } from './timers.js';

/** The state of a replica without a running command, by the state of its shard. */
const STATES: Readonly<Record<ShardState, ReplicaState>> = {
  away: 'remote',
  following: 'standby',
  serving: 'serving',
  handing: 'paused',
  stopped: 'stopped',
  starting: 'recovering',
  failing: 'recovering',
  fenced: 'recovering',
};

/** The state of a replica without a running command. */
export function stateOf(local: ShardState): ReplicaState {
  return STATES[local];
}

/** The epoch in which the shard serves; undefined while it does not. */
export function epochOf({ state, head }: Facts['local']): number | undefined {
  return state === 'serving' ? head?.lsn.epoch : undefined;
}

/**
 * Records changes that the shard made on its own, and the periods that begin now. The shard may have failed and
 * recovered, or its thread may have ended.
 */
export function observe(replica: Replica, facts: Facts): Outcome {
  const { local, nowMs } = facts;
  const state = stateOf(local.state);
  const epoch = epochOf(local);
  const isLost = replica.isHeld && state === 'remote';
  const next = become(replica, state, nowMs, {
    ...timesOf(replica, state, facts),
    epoch,
    isHeld:
      epoch !== undefined ||
      (replica.isHeld && (state === 'recovering' || state === 'paused') && local.state !== 'fenced'),
    lostUntilMs: isLost ? nowMs + TIMERS.lost.ms : replica.lostUntilMs,
    problem: problemOf(replica, state, facts),
    releasedEpoch: epoch === undefined ? replica.releasedEpoch : undefined,
  });
  if (epoch === replica.epoch) return [next, []];
  const effect: Effect = epoch === undefined ? { type: 'unserve' } : { type: 'serve', epoch };
  return [next, [effect]];
}

/** The newest problem; undefined once the shard serves, follows another owner, or is no longer stopped. */
function problemOf(replica: Replica, state: ReplicaState, { local, role }: Facts): string | undefined {
  if (state === 'stopped') return local.reason ?? replica.problem;
  const isOver = replica.state === 'stopped' || state === 'serving' || (state === 'standby' && role !== 'owner');
  return isOver ? undefined : replica.problem;
}

function timesOf(replica: Replica, state: ReplicaState, facts: Facts) {
  const { nowMs, role, local, holder, head, newOwner, isClockSane } = facts;
  const since = (isTrue: boolean, sinceMs: number | undefined) => (isTrue ? (sinceMs ?? nowMs) : undefined);
  const isOwner = role === 'owner';
  const isReady = isOwner && state === 'standby' && isClockSane;
  const isNameless = isReady && local.lacksNames && holder === 'alive';
  const mayHandOver = isReady && !local.lacksNames && (holder === 'alive' || holder === 'unknown');
  const isUnlinked = newOwner !== undefined && !newOwner.isLinked && !newOwner.isGone;
  const stoppedAt = state === 'stopped' ? (replica.stoppedAt ?? head) : undefined;
  return {
    askedSinceMs: mayHandOver ? replica.askedSinceMs : undefined,
    unseenSinceMs: since(isReady && head === undefined, replica.unseenSinceMs),
    namelessSinceMs: since(isNameless, replica.namelessSinceMs),
    isNamelessLogged: isNameless && replica.isNamelessLogged,
    unlinkedSinceMs: since(isUnlinked, replica.unlinkedSinceMs),
    shortSinceMs: isOwner ? replica.shortSinceMs : undefined,
    stoppedAt,
  };
}

/** True if the log has changed since the shard was stopped here: it was repaired, or another node owns it. */
export function hasMoved({ stoppedAt }: Replica, { head }: Facts): boolean {
  return head !== undefined && stoppedAt !== undefined && !isSameHead(head, stoppedAt);
}

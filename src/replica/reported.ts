import type { Facts } from './facts.js';
import type { Replica } from './replica.js';
import { TIMERS } from './timers.js';

/** True if the log does not answer, although this node serves the shard or should take it. Peers then take over. */
export function isStuck({ unseenSinceMs }: Replica, pendingAppendMs: number, nowMs: number): boolean {
  return Math.max(pendingAppendMs, nowMs - (unseenSinceMs ?? nowMs)) >= TIMERS.stuck.ms;
}

/** True if the thread of the shard has just ended. Another node can serve the shard sooner than this one. */
export function isLost(
  { lostUntilMs }: Replica,
  { nowMs, hasOtherTaker }: Pick<Facts, 'nowMs' | 'hasOtherTaker'>,
): boolean {
  return nowMs < lostUntilMs && hasOtherTaker;
}

/** True if this node may still acknowledge entries of the shard, or hands it over. */
export function isHeldHere({ state, epoch }: Replica): boolean {
  return (
    epoch !== undefined || state === 'taking' || state === 'pausing' || state === 'offered' || state === 'settling'
  );
}

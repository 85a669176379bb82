import { formatLsn } from '../ports/lsn.js';
import type { Head } from '../ports/wal.js';
import type { MoveResult } from '../threads/shards.js';
import type { Facts } from './facts.js';
import { type Outcome, settle, waitFor } from './outcome.js';
import type { Replica } from './replica.js';
import { FAILURES_MAX, TIMERS } from './timers.js';

/** Pauses after a failed load or takeover. Too many permanent failures of the assigned owner stop the shard. */
export function failed(
  replica: Replica,
  { reason, isPermanent }: Extract<MoveResult, { type: 'failed' }>,
  facts: Facts,
): Outcome {
  const failures = isPermanent && facts.role === 'owner' ? replica.failures + 1 : replica.failures;
  if (failures >= FAILURES_MAX && isPermanent && facts.role === 'owner')
    return stop({ ...replica, failures }, reason, facts);
  const ms = isPermanent ? TIMERS.retryPermanent.ms : TIMERS.retry.ms;
  const resting = { ...rest(replica, ms, facts), failures, isUrgent: false, problem: reason };
  return [resting, replica.problem === reason ? [] : [{ type: 'problem', reason }]];
}

/**
 * Waits for the node that acknowledged more entries, because it may be alive and append them again. Stops the shard
 * after `TIMERS.short`.
 */
export function lacksEntries(replica: Replica, head: Head, facts: Facts): Outcome {
  const { nowMs } = facts;
  const shortSinceMs = replica.shortSinceMs ?? nowMs;
  const short = { ...replica, shortSinceMs };
  if (nowMs - shortSinceMs >= TIMERS.short.ms) return stop(short, lackOf(head, facts), facts);
  const resting = rest(short, TIMERS.retry.ms, facts);
  // Otherwise each offer would pause a live owner that also lacks the entry, in vain.
  const wantFromMs = replica.how === 'handed-over' ? nowMs + TIMERS.wantShort.ms : replica.wantFromMs;
  return [{ ...resting, wantFromMs }, []];
}

function rest(replica: Replica, ms: number, { nowMs }: Facts): Replica {
  const restUntilMs = nowMs + ms;
  return { ...replica, restUntilMs, wait: waitFor('retry', undefined, { action: 'try again', atMs: restUntilMs }) };
}

function stop(replica: Replica, reason: string, facts: Facts): Outcome {
  return settle(replica, { type: 'stop', shard: replica.shard, reason }, facts);
}

function lackOf(head: Head, { acknowledged, holderName }: Facts): string {
  const { lsn } = acknowledged ?? head;
  return lsn.sequence > head.lsn.sequence
    ? `its log ends at ${formatLsn(head.lsn)}, but ${formatLsn(lsn)} was acknowledged by ${holderName}: ` +
        'start that node if it still has the missing entries, or run walletd accept-loss'
    : `its log has a different entry in the place of ${formatLsn(lsn)}, which was acknowledged: run walletd accept-loss`;
}

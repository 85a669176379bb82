import type { Manifest } from '../snapshot/snapshot-store.js';
import { compareLsn, formatLsn, type Lsn } from './lsn.js';
import { LossError } from './recovery-error.js';
import { type Entry, type Head, isSameHead } from './wal.js';

/*
 * A log must still contain the last entry of each snapshot, complete or damaged, unless it was trimmed. Otherwise the
 * log has lost entries that may have been acknowledged.
 */

/** Throws a `LossError` if the snapshot reaches beyond this head of the log. */
export function checkAgainstLog({ id, shard, end }: Manifest, head: Head): void {
  if (compareLsn(end.lsn, head.lsn) <= 0) return;
  throw new LossError(
    `snapshot ${id} of shard ${shard} holds entries up to ${formatLsn(end.lsn)}, but the log ends at ${formatLsn(head.lsn)}: the log has lost what is between`,
  );
}

/** Throws a `LossError` if the entry is at a snapshot's end but differs from the entry that the snapshot contains. */
export function checkEnds(ends: readonly Head[], { shard, lsn, head }: Entry): void {
  for (const end of ends) {
    if (lsn.sequence !== end.lsn.sequence || isSameHead(head, end)) continue;
    throw new LossError(
      `entry ${formatLsn(lsn)} of shard ${shard} is not the one that a snapshot was taken of, ${formatLsn(end.lsn)}`,
    );
  }
}

/**
 * Throws a `LossError` if the log ends before a snapshot does. Compares sequences instead of LSNs: a log that lost its
 * tail continues in a new epoch, so its fences have higher LSNs than the lost entries.
 */
export function checkReached(ends: readonly Head[], shard: number, last: Lsn): void {
  for (const end of ends) {
    if (end.lsn.sequence <= last.sequence) continue;
    throw new LossError(
      `the log of shard ${shard} ends at ${formatLsn(last)}, but a snapshot holds entries up to ${formatLsn(end.lsn)}: the log has lost some of them`,
    );
  }
}

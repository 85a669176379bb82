import { compareLsn, formatLsn, type Lsn } from '../ports/lsn.js';
import { LossError } from '../ports/recovery-error.js';
import type { Manifest } from '../ports/snapshot-store.js';
import { type Entry, type Head, isSameHead } from '../ports/wal.js';

/*
 * Checks that a log still contains the last entry of each snapshot, whether complete or damaged, unless that entry was
 * trimmed. If it is missing, the log has lost entries that may have been acknowledged.
 */

/** Throws a `LossError` if the snapshot reaches beyond this head of the log. */
export function checkAgainstLog({ id, shard, end }: Manifest, head: Head): void {
  if (compareLsn(end.lsn, head.lsn) <= 0) return;
  throw new LossError(
    `snapshot ${id} of shard ${shard} contains entries up to ${formatLsn(end.lsn)}, but the log ends at ${formatLsn(head.lsn)}: the log has lost the entries in between`,
  );
}

/**
 * Throws a `LossError` if the entry is at the end of a snapshot but differs from the entry that the snapshot contains
 * there.
 */
export function checkEnds(ends: readonly Head[], { shard, lsn, head }: Entry): void {
  for (const end of ends) {
    if (lsn.sequence !== end.lsn.sequence || isSameHead(head, end)) continue;
    throw new LossError(
      `entry ${formatLsn(lsn)} of shard ${shard} is not the one from which a snapshot was taken, ${formatLsn(end.lsn)}`,
    );
  }
}

/**
 * Throws a `LossError` if the log ends before a snapshot does. Compares sequences instead of LSNs, because a log that
 * has lost its tail continues in a new epoch, in which fences have higher LSNs than the lost entries.
 */
export function checkReached(ends: readonly Head[], shard: number, last: Lsn): void {
  for (const end of ends) {
    if (end.lsn.sequence <= last.sequence) continue;
    throw new LossError(
      `the log of shard ${shard} ends at ${formatLsn(last)}, but a snapshot contains entries up to ${formatLsn(end.lsn)}: the log has lost some of them`,
    );
  }
}

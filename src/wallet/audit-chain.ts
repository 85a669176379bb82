import { createHash } from 'node:crypto';
import type { Event, OperatorEvent } from './event.js';

/**
 * The newest link of a shard's audit chain, which has one link per operator action. The hash covers all operations
 * since the chain began. A head that was recorded elsewhere therefore proves that no operation up to it was changed,
 * removed or inserted later.
 */
export interface AuditHead {
  /**
   * LSN after which the chain begins. Usually 0-0; in a log that an older walletd started, the start of the first
   * snapshot that has a chain.
   */
  readonly since: string;
  /** Number of operations in the chain. */
  readonly count: number;
  /** SHA-256 in 64 hexadecimal digits; all zeros in an empty chain. */
  readonly hash: string;
}

const IS_AUDITED: Readonly<Record<OperatorEvent['type'], true>> = {
  'player-created': true,
  'player-imported': true,
  deposited: true,
  withdrawn: true,
  corrected: true,
  'money-requested': true,
  'request-closed': true,
  'player-blocked': true,
  'player-unblocked': true,
};

export function emptyAudit(since: string): AuditHead {
  return { since, count: 0, hash: '0'.repeat(64) };
}

/** Returns the head of the chain after this event. Only events caused by an operator extend the chain. */
export function auditAfter(head: AuditHead, event: Event): AuditHead {
  if (!Object.hasOwn(IS_AUDITED, event.type)) return head;
  const hash = createHash('sha256').update(head.hash, 'hex').update(canonicalOf(event)).digest('hex');
  return { since: head.since, count: head.count + 1, hash };
}

/** JSON of all defined fields, sorted by name. The hashes are stored permanently, so this format must never change. */
function canonicalOf(value: object): string {
  return JSON.stringify(value, (_key, field: unknown) =>
    typeof field === 'object' && field !== null && !Array.isArray(field)
      ? Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1)))
      : field,
  );
}

import type { Units } from './amount.js';
import type { Event } from './event.js';
import type { Failure } from './rejection.js';

export type Answer =
  | { readonly type: 'accepted'; readonly before: Units; readonly after: Units; readonly isRepeat: boolean }
  | { readonly type: 'failed'; readonly failure: Failure };

/** The outcome of a command. Nothing has changed yet: the shard applies the event. */
export interface Decision {
  readonly answer: Answer;
  /** Undefined when nothing changes: a repeat, a rejection. A failed cancel can have an event. */
  readonly event: Event | undefined;
  readonly remarks: readonly Remark[];
}

/**
 * A warning: something that is right but worth counting. The platform's view and ours differ, or money went an unusual
 * way.
 */
export type Remark = (typeof REMARKS)[number];

export const REMARKS = [
  'amount-mismatch',
  'round-mismatch',
  'further-payout',
  'unknown-tip',
  'tombstone',
  'rollback-skipped',
  'zero-stake',
  'stake-changed',
  'untaken-stake',
  'missing-fields',
  'repeat',
] as const;

import type { Units } from './amount.js';
import type { Event } from './event.js';
import type { Failure } from './rejection.js';

export type Answer =
  | { readonly type: 'accepted'; readonly before: Units; readonly after: Units; readonly isRepeat: boolean }
  | { readonly type: 'failed'; readonly failure: Failure };

/** The outcome of a command. The decision itself changes nothing; the shard applies the event. */
export interface Decision {
  readonly answer: Answer;
  /**
   * The event that the shard applies. Undefined when nothing changes, as for repeats and most rejections. A failed
   * cancel can have an event.
   */
  readonly event: Event | undefined;
  readonly remarks: readonly Remark[];
}

/**
 * A warning about a valid but unusual decision, either because the platform's view differs from ours or because money
 * moved in an unusual way. Metrics count these warnings.
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

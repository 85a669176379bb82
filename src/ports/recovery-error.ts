import { UserError } from '../base/user-error.js';
import { formatLsn } from './lsn.js';
import type { Entry } from './wal.js';

/**
 * Thrown if the log cannot be continued in its current state. walletd does not guess; an operator must investigate.
 * `fact` is the message without its advice to the operator.
 */
export class RecoveryError extends UserError {
  override readonly name: string = 'RecoveryError';

  constructor(
    message: string,
    readonly fact: string = message,
  ) {
    super(message);
  }
}

/** Thrown if the store has lost an entry that was written and perhaps acknowledged. */
export class LossError extends RecoveryError {
  constructor(fact: string) {
    super(`${fact}; \`walletd accept-loss\` shows what is missing, and asks whether to continue without it`, fact);
  }
}

/** Thrown if the log ends before its head, which may last only for a moment while the store fails over. */
export class ShortLogError extends LossError {}

/** Thrown for an entry or snapshot that a newer walletd wrote. That release can read it, so nothing is lost. */
export class NewerFormatError extends RecoveryError {}

/** Thrown at the fence of an accepted loss, where a reader whose state is from before the fence cannot continue. */
export class AcceptedLossError extends LossError {
  constructor(readonly fence: Entry) {
    const at = `entry ${formatLsn(fence.lsn)} of shard ${fence.shard}`;
    super(`${at} does not follow from the entries before it: a loss was accepted`);
  }
}

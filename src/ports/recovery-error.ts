import { UserError } from '../base/user-error.js';
import { formatLsn } from './lsn.js';
import type { Entry } from './wal.js';

/**
 * The log cannot be continued in its current state. walletd does not guess; an operator must investigate. `fact` is the
 * message without its advice to the operator.
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

/** The store has lost an entry that was written and perhaps acknowledged. */
export class LossError extends RecoveryError {
  constructor(fact: string) {
    super(`${fact}; \`walletd accept-loss\` shows what is missing, and asks whether to go on without it`, fact);
  }
}

/** The log ends before its head. This may last only for a moment while its store fails over. */
export class ShortLogError extends LossError {}

/** A newer walletd wrote an entry or a snapshot and can read it, so nothing is lost. */
export class NewerFormatError extends RecoveryError {}

/** The log contains the fence of an accepted loss. A reader whose state comes from before the fence cannot continue. */
export class AcceptedLossError extends LossError {
  constructor(readonly fence: Entry) {
    const at = `entry ${formatLsn(fence.lsn)} of shard ${fence.shard}`;
    super(`${at} does not follow from what is before it: a loss was accepted`);
  }
}

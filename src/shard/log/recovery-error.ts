import { formatLsn } from './lsn.js';
import type { Entry } from './wal.js';

/**
 * The log cannot be continued as it is. An operator must look; nothing is guessed. `fact` is the message without
 * advice.
 */
export class RecoveryError extends Error {
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

/** The log ends before its head: possibly for a moment only, while its store fails over. */
export class ShortLogError extends LossError {}

/** Nothing is lost: the newer walletd that wrote the entry can read it. */
export class NewerEntryError extends RecoveryError {}

/** The fence of an accepted loss: a reader that arrives from before it cannot read on. */
export class AcceptedLossError extends LossError {
  constructor(readonly fence: Entry) {
    const at = `entry ${formatLsn(fence.lsn)} of shard ${fence.shard}`;
    super(`${at} does not follow from what is before it: a loss was accepted`);
  }
}

import { formatLsn } from './lsn.js';
import type { Entry } from './wal.js';

/** The log cannot be continued as it is. A person has to look; nothing is guessed. `fact`: the message without advice. */
export class RecoveryError extends Error {
  override readonly name: string = 'RecoveryError';

  constructor(
    message: string,
    readonly fact: string = message,
  ) {
    super(message);
  }
}

/** Something that was written, and perhaps acknowledged, is not in the store any more. */
export class LossError extends RecoveryError {
  constructor(fact: string) {
    super(`${fact}; \`walletd accept-loss\` shows what is missing, and asks whether to go on without it`, fact);
  }
}

/** The log ends before the head that it had: perhaps only for a moment, while its store fails over. */
export class ShortLogError extends LossError {}

/** Nothing is lost: what wrote this can read it. */
export class NewerEntryError extends RecoveryError {}

/** The fence of an accepted loss: a reader that has come up to it cannot read on. */
export class AcceptedLossError extends LossError {
  constructor(readonly fence: Entry) {
    const at = `entry ${formatLsn(fence.lsn)} of shard ${fence.shard}`;
    super(`${at} does not follow from what is before it: a loss was accepted`);
  }
}

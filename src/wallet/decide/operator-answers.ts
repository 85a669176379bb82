import type { Units } from '../amount.js';
import type { Decision } from '../decision.js';
import type { Event } from '../event.js';
import type { Failure } from '../rejection.js';
import { movedBy, type Operation } from '../state/operation.js';
import type { Wallet } from '../state/wallet.js';

/** Returns the decision for an accepted operator command. */
export function applied(wallet: Wallet, event: Event): Decision {
  return {
    answer: { type: 'accepted', before: wallet.balance, after: wallet.balance, isRepeat: false },
    event,
    remarks: [],
  };
}

export function unchanged(wallet: Wallet): Decision {
  return repeated({ before: wallet.balance, after: wallet.balance });
}

export function repeatedOperation(operation: Operation): Decision {
  return repeated({ before: operation.after - movedBy(operation), after: operation.after });
}

function repeated(answer: { before: Units; after: Units }): Decision {
  const { before, after } = answer;
  return { answer: { type: 'accepted', before, after, isRepeat: true }, event: undefined, remarks: [] };
}

export function failed(failure: Failure): Decision {
  return { answer: { type: 'failed', failure }, event: undefined, remarks: [] };
}

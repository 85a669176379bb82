import type { ChangingEndpoint, Endpoint } from '../../src/wallet/command.js';

const bet = { id: 'b1', roundId: 'r1' };
const BY_TRANSACTION = { transactionType: 'BY_TRANSACTION' };

/** Elements sent by a platform that includes only the fields that affect decisions. */
export const LEAN_TXNS: Readonly<Record<ChangingEndpoint, Readonly<Record<string, unknown>>>> = {
  placeBets: { ...bet, status: 'OPEN', betAmount: 10 },
  settleBets: { ...bet, status: 'SETTLED', betAmount: 10, payoutAmount: 25, isSingleState: false, ...BY_TRANSACTION },
  adjustBets: { ...bet, status: 'OPEN', betAmount: 10 },
  voidSettled: { ...bet, status: 'VOID', betAmount: 10, payoutAmount: 25, ...BY_TRANSACTION },
  cancelBets: { ...bet, status: 'REFUND', betAmount: 10, ...BY_TRANSACTION },
  cancelTips: { ...bet, status: 'REFUND', betAmount: 10 },
  placeTips: { ...bet, status: 'TIPS', betAmount: 10 },
  winRewards: { ...bet, status: 'SETTLED', payoutAmount: 25 },
  adjustBalance: { refId: 'm1', status: 'CREDIT', amount: 10 },
  rollback: { ...bet, status: 'ROLLBACK', betAmount: 10, payoutAmount: 25 },
};

const ENVELOPE = { timestampMillis: 1, productId: 'P', currency: 'THB', username: 'ann' };

/** A whole request with one of these elements, or with the given elements. */
export function leanBody(endpoint: Endpoint, txns?: readonly object[]): Record<string, unknown> {
  const body = { id: `q-${endpoint}`, ...ENVELOPE };
  return endpoint === 'checkBalance' ? body : { ...body, txns: txns ?? [LEAN_TXNS[endpoint]] };
}

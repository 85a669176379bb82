import { ENDPOINTS } from '../../src/callback/callbacks.js';
import type { ChangingEndpoint, Endpoint } from '../../src/wallet/command.js';
import type { Random } from './random.js';

/** Players targeted by attacks; honest players have different names. */
export const VICTIMS = Array.from({ length: 12 }, (_, n) => `victim-${n}`);

const BETS = 12;
const ROUNDS = 5;
const AMOUNTS = [0, 0.0001, 0.5, 1, 2, 3, 12.25, 100];
const TYPES = ['BY_TRANSACTION', 'BY_ROUND'];

export interface RealCallback {
  readonly endpoint: Endpoint;
  readonly body: { readonly id: string; readonly username: string; readonly txns?: readonly object[] };
}

/** A callback that a platform could send. IDs and rounds recur, so that all states and repeats occur. */
export function realCallback(random: Random): RealCallback {
  const endpoint = random.pick(ENDPOINTS);
  const body = {
    id: `q-${random.between(0, 1_000_000)}`,
    timestampMillis: 1_790_000_000_000 + random.between(0, 1_000_000),
    productId: random.pick(['P', 'P', 'SPORT']),
    currency: random.oneIn(30) ? 'EUR' : 'THB',
    username: random.oneIn(30) ? 'nobody' : random.pick(VICTIMS),
  };
  if (endpoint === 'checkBalance') return { endpoint, body };
  const txns = random.list(random.oneIn(3) ? random.between(2, 6) : 1, () => txnOf(endpoint, random));
  return { endpoint, body: { ...body, txns } };
}

function txnOf(endpoint: ChangingEndpoint, random: Random): object {
  const txn = { id: `t-${random.between(0, BETS)}`, roundId: `r-${random.between(0, ROUNDS)}` };
  const betAmount = random.pick(AMOUNTS);
  const payoutAmount = random.pick(AMOUNTS);
  const game = { gameCode: 'g', playInfo: 'p' };
  const transactionType = random.pick(TYPES);
  const skipBalanceUpdate = random.oneIn(6);
  switch (endpoint) {
    case 'placeBets':
      return {
        ...txn,
        status: random.pick(['OPEN', 'WAITING']),
        betAmount,
        skipBalanceUpdate,
        isFeature: true,
        ...game,
      };
    case 'settleBets': {
      const more = { turnOver: 0, isSingleState: random.oneIn(4), isEndRound: random.oneIn(8), skipBalanceUpdate };
      return { ...txn, status: 'SETTLED', betAmount, payoutAmount, transactionType, ...more, ...game };
    }
    case 'adjustBets':
      return { ...txn, status: 'OPEN', betAmount, ...game };
    case 'voidSettled':
      return { ...txn, status: 'VOID', betAmount, payoutAmount, transactionType, ...game };
    case 'cancelBets':
      return { ...txn, status: random.pick(['REFUND', 'REJECT']), betAmount, transactionType, ...game };
    case 'cancelTips':
      return { ...txn, status: 'REFUND', betAmount };
    case 'rollback':
      return { ...txn, status: 'ROLLBACK', betAmount, payoutAmount, transactionType, skipBalanceUpdate };
    case 'placeTips':
      return { ...txn, status: 'TIPS', betAmount, skipBalanceUpdate };
    case 'winRewards':
      return { ...txn, status: 'SETTLED', payoutAmount, ...(random.oneIn(2) && { betAmount, ...game }) };
    case 'adjustBalance':
      return { refId: txn.id, status: random.pick(['DEBIT', 'CREDIT']), amount: betAmount };
    default:
      return endpoint satisfies never;
  }
}

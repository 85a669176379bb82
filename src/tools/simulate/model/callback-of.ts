import type { Element, Message, Player } from '../message.js';
import type { Callback } from './callback.js';

const FLAGS = ['skipBalanceUpdate', 'isSingleState', 'isEndRound', 'isTooMuch'];
const AMOUNTS = ['betAmount', 'payoutAmount', 'amount'];

/** A message as the reference wallet reads it; amounts become units of 10^-decimals. checkBalance is none. */
export function callbackOf(message: Message, { username, currency }: Player, decimals: number): Callback {
  const envelope = { username, currency, productId: 'P', ...message.envelope };
  return {
    type: message.endpoint,
    id: `q${message.number}`,
    timestampMillis: message.number,
    ...envelope,
    txns: message.txns.map((txn) => elementOf(txn, decimals)),
  } as unknown as Callback;
}

function elementOf(txn: Element, decimals: number): Element {
  const id = txn.id ?? txn.refId;
  return {
    id,
    roundId: txn.roundId ?? id,
    status: txn.status,
    byRound: txn.transactionType === 'BY_ROUND',
    ...Object.fromEntries(FLAGS.map((flag) => [flag, txn[flag] === true])),
    ...Object.fromEntries(AMOUNTS.map((amount) => [amount, unitsOf(Number(txn[amount] ?? 0), decimals)])),
  };
}

/** Whole units; NaN for what has more decimals. */
export function unitsOf(amount: number, decimals: number): number {
  const units = Math.round(amount * 10 ** decimals);
  return Math.abs(amount * 10 ** decimals - units) < 1e-4 ? units : Number.NaN;
}

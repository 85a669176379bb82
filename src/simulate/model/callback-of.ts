import type { Element, Message, Player } from '../message.js';
import type { Callback } from './callback.js';

/**
 * Converts a message to the form that the reference wallet reads. Amounts become units of 10^-decimals. checkBalance is
 * not a callback.
 */
export function callbackOf(message: Message, { username, currency }: Player, decimals: number): Callback {
  const envelope = { username, currency, productId: 'P', ...message.envelope };
  return {
    type: message.endpoint,
    id: `q${message.number}`,
    timestampMillis: message.timed ?? message.number,
    ...envelope,
    txns: message.txns.map((txn) => elementOf(txn, decimals)),
  } as unknown as Callback;
}

function elementOf(txn: Element, decimals: number): Element {
  const id = txn.id ?? txn.refId;
  const amount = (value: unknown) => unitsOf(Number(value ?? 0), decimals);
  return {
    id,
    roundId: txn.roundId ?? id,
    status: txn.status,
    byRound: txn.transactionType === 'BY_ROUND',
    skipBalanceUpdate: txn.skipBalanceUpdate === true,
    isSingleState: txn.isSingleState === true,
    isEndRound: txn.isEndRound === true,
    isTooMuch: txn.isTooMuch === true,
    betAmount: amount(txn.betAmount),
    payoutAmount: amount(txn.payoutAmount),
    amount: amount(txn.amount),
  };
}

/** Converts an amount to whole units; NaN if the amount has more decimals. */
export function unitsOf(amount: number, decimals: number): number {
  const exact = amount * 10 ** decimals;
  const units = Math.round(exact);
  return Math.abs(exact - units) < 1e-4 ? units : Number.NaN;
}

import { choice } from '../base/json-schema.js';
import { withElements } from './callback-type.js';
import { amountOf, idOf, mustUnits } from './fields.js';

export const adjustBalance = withElements('adjustBalance', {
  summary: "A game debits or credits the player's balance, before and after play",
  txn: {
    refId: idOf('Id of the movement; a debit and a credit may share one'),
    status: choice(['DEBIT', 'CREDIT']),
    amount: amountOf('Amount to debit or credit'),
  },
  example: { refId: 'purse-1', status: 'DEBIT', amount: 300 },
  toTxn: ({ refId, status, amount }, money) => ({
    id: refId,
    roundId: refId,
    status,
    amount: mustUnits(amount, money, 'amount'),
    isTooMuch: status === 'CREDIT' && amount > money.movementMax,
  }),
});

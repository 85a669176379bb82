import type { AdjustBalanceCommand, MovementTxn } from '../command.js';
import type { Wallet } from '../state/wallet.js';
import { firstAnswer } from './idempotency.js';
import { type Rules, refusesProduct } from './rules.js';
import { change, covers, fail, repeat, type Verdict } from './verdict.js';

/**
 * Decides an adjustBalance element (docs/decisions.md section 8). A debit and a credit with the same refId are two
 * separate movements.
 */
export function decideMovement(wallet: Wallet, command: AdjustBalanceCommand, txn: MovementTxn, rules: Rules): Verdict {
  return txn.status === 'DEBIT' ? decideDebit(wallet, command, txn, rules) : decideCredit(wallet, command, txn);
}

function decideDebit(wallet: Wallet, command: AdjustBalanceCommand, txn: MovementTxn, rules: Rules): Verdict {
  const { id, amount } = txn;
  const debit = wallet.named('debit', command.productId, id);
  const first = debit && firstAnswer(debit, { type: 'place', amount });
  if (debit !== undefined && first !== undefined) return repeat(first, debit.row);
  if (wallet.blocked) return fail('player-blocked');
  if (refusesProduct(rules, command.productId)) return fail('product-refused');
  if (debit !== undefined) return fail('duplicate-transaction');
  if (!covers(wallet, amount)) return fail('insufficient-balance');
  return change({ type: 'balance-debited', id, amount, after: wallet.balance - amount });
}

/** Decides a credit. No bet backs it, so its amount is capped. A blocked player can still receive it. */
function decideCredit(wallet: Wallet, command: AdjustBalanceCommand, txn: MovementTxn): Verdict {
  const { id, amount } = txn;
  const credit = wallet.named('credit', command.productId, id);
  if (credit !== undefined) {
    const first = firstAnswer(credit, { type: 'settle', amount });
    return first === undefined ? fail('duplicate-transaction') : repeat(first, credit.row);
  }
  if (txn.isTooMuch) return fail('limit-reached');
  return change({ type: 'balance-credited', id, amount, after: wallet.balance + amount });
}

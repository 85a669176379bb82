import type { Units } from '../amount.js';
import type { Round } from '../state/round.js';

/** Amounts to take back from the round's settlements, oldest first, up to a total of `payout`. */
export function takeBack(round: Round, payout: Units): [settlementId: string, amount: Units][] {
  const taken: [string, Units][] = [];
  let rest = payout;
  for (const { transaction } of round.settlements) {
    const amount = Math.min(rest, transaction.paid);
    if (amount > 0) taken.push([transaction.id, amount]);
    rest -= amount;
  }
  return taken;
}

import type { Case } from '../case.js';
import type { Message } from '../message.js';
import type { Platform } from '../platform.js';
import type { RuleName } from '../rules.js';

const DEBT = -500;

/**
 * Case of a player who spent a payout on a second bet, b2, before the payout was voided. A message that then takes no
 * money must succeed. `moved` is the amount that the message moves.
 */
export function inDebt(rule: RuleName, name: string, message: (p: Platform) => Message, moved = 0): Case {
  return {
    rule,
    name,
    steps: (p) => [
      [p.bet('b1', 100), [1000, 900]],
      [p.settle('b1', 600), [900, 1500]],
      [p.bet('b2', 1500), [1500, 0]],
      [p.void('b1', 100, 600), [0, DEBT]],
      [message(p), [DEBT, DEBT + moved]],
      [p.balance(), [DEBT + moved]],
    ],
  };
}

import type { Case } from '../case.js';
import type { Message } from '../message.js';
import type { Platform } from '../platform.js';
import type { RuleName } from '../rules.js';

const DEBT = -500;

/**
 * The player has spent a payout on another bet, b2, before the payout was voided. A message that then takes nothing
 * must succeed; `moved` is its effect.
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

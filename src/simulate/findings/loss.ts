import type { Profile } from '../profile.js';
import type { Finding } from './findings.js';

/** Number of callbacks for which a loss is estimated. */
const CALLBACKS = 100;

/** Says how much money a finding costs, and who loses it. Empty if no sum is known. */
export function moneyLines({ excess, shortest }: Pick<Finding, 'excess' | 'shortest'>, profile: Profile): string[] {
  if (excess === undefined || excess === 0) return [];
  const currency = shortest.deviation?.player.currency ?? profile.currency;
  const amount = (units: number) => `${Math.abs(units) / 10 ** profile.decimals} ${currency}`;
  const loser = excess > 0 ? 'the operator' : 'the player';
  const direction = excess > 0 ? 'higher' : 'lower';
  return [
    `  The balance is ${amount(excess)} ${direction} than it must be. With these amounts, ${CALLBACKS} such callbacks would cost ${loser} ${amount(excess * CALLBACKS)}.`,
  ];
}

import type { Profile } from '../profile.js';
import type { Finding } from './findings.js';

/** Number of callbacks for which a loss is estimated. */
export const CALLBACKS = 100;

/** Says how a loss is computed. */
export const COMPUTED = `Computed from the shortest case of each finding: the balance after the callback, minus the balance that the rule demands, times ${CALLBACKS}. Real amounts differ.`;

/** Says how much money a finding costs, and who loses it. Undefined if no sum is known. */
export function lossOf(finding: Pick<Finding, 'excess'>, profile: Profile): string | undefined {
  const { excess } = finding;
  const cost = costOf(finding, profile);
  if (excess === undefined || cost === undefined) return undefined;
  const direction = excess > 0 ? 'higher' : 'lower';
  return `The balance is ${amountOf(excess, profile)} ${direction} than it must be. With these amounts, ${CALLBACKS} such callbacks would cost ${cost}.`;
}

/** The loser of a hundred callbacks, and the amount. Undefined if no sum is known. */
export function costOf({ excess }: Pick<Finding, 'excess'>, profile: Profile): string | undefined {
  if (excess === undefined || excess === 0) return undefined;
  return `${excess > 0 ? 'the operator' : 'the player'} ${amountOf(excess * CALLBACKS, profile)}`;
}

/** Says how much a hundred callbacks of each finding would cost. Undefined if no sum is known. */
export function totalLossOf(findings: readonly Finding[], profile: Profile): string | undefined {
  const sums = findings.flatMap(({ heading, excess }) => (heading === 'money' && excess !== undefined ? [excess] : []));
  const total = (isLost: (excess: number) => boolean) => sums.filter(isLost).reduce((sum, one) => sum + one, 0);
  const parts = [
    { loser: 'the operator', units: total((excess) => excess > 0) },
    { loser: 'the players', units: total((excess) => excess < 0) },
  ].flatMap(({ loser, units }) => (units === 0 ? [] : [`${loser} ${amountOf(units * CALLBACKS, profile)}`]));
  if (parts.length === 0) return undefined;
  return `${CALLBACKS} callbacks of each finding about money would cost ${parts.join(' and ')}.`;
}

function amountOf(units: number, { decimals, currency }: Profile): string {
  const amount = Math.abs(units) / 10 ** decimals;
  return `${amount.toLocaleString('en-US', { maximumFractionDigits: decimals })} ${currency}`;
}

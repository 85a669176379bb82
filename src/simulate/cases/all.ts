import { type Case, isOfOther } from '../case.js';
import { Platform } from '../platform.js';
import type { PlatformName } from '../platform-name.js';
import { RULE_NAMES } from '../rules.js';
import { AMOUNTS } from './amounts.js';
import { ARRAYS } from './arrays.js';
import { AT_ONCE } from './at-once.js';
import { BESIDE_ROUNDS } from './beside-rounds.js';
import { BETS } from './bets.js';
import { CORRECTIONS } from './corrections.js';
import { NETWORK } from './network.js';
import { OLD_MESSAGES } from './old-messages.js';
import { REFUSALS } from './refusals.js';
import { REPEATS } from './repeats.js';
import { ROLLBACKS } from './rollbacks.js';
import { SETTLES } from './settles.js';
import { TWO_PLAYERS } from './two-players.js';

const TABLES = [
  REFUSALS,
  BETS,
  SETTLES,
  CORRECTIONS,
  BESIDE_ROUNDS,
  ROLLBACKS,
  REPEATS,
  OLD_MESSAGES,
  ARRAYS,
  NETWORK,
  AMOUNTS,
  AT_ONCE,
  TWO_PLAYERS,
];

/** All cases, ordered by rule. */
export const CASES: readonly Case[] = TABLES.flat().sort(
  (one, other) => RULE_NAMES.indexOf(one.rule) - RULE_NAMES.indexOf(other.rule),
);

/** The cases of each platform. */
export const CASES_OF: Readonly<Record<PlatformName, readonly Case[]>> = { callbacks: CASES };

/** Number of players that these cases need together. */
export function countPlayers(cases: readonly Case[]): number {
  return cases.reduce((sum, { steps }) => sum + (steps(new Platform()).some(isOfOther) ? 2 : 1), 0);
}

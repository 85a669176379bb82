import type { CheckBalanceCommand, PlaceBetsCommand, PlaceTipsCommand, SettleBetsCommand } from '../command.js';
import type { Rejection } from '../rejection.js';
import type { Round } from '../state/round.js';
import { admits } from '../state/session.js';
import type { Wallet } from '../state/wallet.js';
import { sessionOf } from '../state/wallet-body.js';
import { type Rules, refusesProduct } from './rules.js';

/**
 * The reason for refusing a new bet or tip; undefined if it is allowed. Called after the check for repeats, because a
 * repeat gets its first answer even if the player has been blocked since. Not called for messages that close a bet or
 * pay money out.
 */
export function refusalOfNew(
  wallet: Wallet,
  command: PlaceBetsCommand | PlaceTipsCommand,
  rules: Rules,
  nowMs: number,
): Rejection | undefined {
  if (wallet.blocked) return 'player-blocked';
  if (refusesProduct(rules, command.productId)) return 'product-refused';
  return refusalOfToken(wallet, command, rules, nowMs);
}

/** The reason for refusing the token; undefined if it is valid. A missing token counts as a wrong token. */
export function refusalOfToken(
  wallet: Wallet,
  { session: given = '' }: PlaceBetsCommand | PlaceTipsCommand | CheckBalanceCommand,
  rules: Rules,
  nowMs: number,
): Rejection | undefined {
  if (rules.sessionToken === 'ignore') return undefined;
  const session = sessionOf(wallet);
  return session !== undefined && admits(session, given, nowMs) ? undefined : 'invalid-token';
}

/**
 * True for a bet that arrives after a cancel BY_ROUND of its round, unless the platform's clock shows that the bet was
 * sent after the cancel.
 */
export function isOfCancelledRound(
  round: Round | undefined,
  { timestampMillis }: PlaceBetsCommand | SettleBetsCommand,
): boolean {
  return round !== undefined && timestampMillis <= round.markMs;
}

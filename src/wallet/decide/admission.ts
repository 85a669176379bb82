import type { CheckBalanceCommand, PlaceBetsCommand, PlaceTipsCommand, SettleBetsCommand } from '../command.js';
import type { Rejection } from '../rejection.js';
import type { Round } from '../state/round.js';
import { admits } from '../state/session.js';
import type { Wallet } from '../state/wallet.js';
import { sessionOf } from '../state/wallet-body.js';
import { type Rules, refusesProduct } from './rules.js';

/**
 * Why a player may not begin something new; undefined: the player may. Asked after repeats, which get their first answer whatever
 * has become of the player since, and never about what closes or pays.
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

/** A token that did not come is a wrong one. */
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

/** True for a bet that its round's cancel BY_ROUND has overtaken: the platform, by its own clock, sent the cancel no earlier. */
export function isOfCancelledRound(
  round: Round | undefined,
  { timestampMillis }: PlaceBetsCommand | SettleBetsCommand,
): boolean {
  return round !== undefined && timestampMillis <= round.markMs;
}

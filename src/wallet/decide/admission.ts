import type { CheckBalanceCommand, PlaceBetsCommand, PlaceTipsCommand, SettleBetsCommand } from '../command.js';
import type { Rejection } from '../rejection.js';
import type { Round } from '../state/round.js';
import { admits } from '../state/session.js';
import type { Wallet } from '../state/wallet.js';
import { sessionOf } from '../state/wallet-body.js';
import { type Rules, refusesProduct } from './rules.js';

/**
 * Why a player may not start something new. Undefined: the player may. Called after the check for repeats, which get
 * their first answer whatever has become of the player since. Never called for messages that close or pay.
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

/** Why the token is refused. A missing token is a wrong token. */
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
 * True for a bet that arrives after its round's cancel BY_ROUND, although the platform, by its own clock, did not send
 * the cancel earlier.
 */
export function isOfCancelledRound(
  round: Round | undefined,
  { timestampMillis }: PlaceBetsCommand | SettleBetsCommand,
): boolean {
  return round !== undefined && timestampMillis <= round.markMs;
}

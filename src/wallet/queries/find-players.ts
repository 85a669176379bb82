import type { PlayerView, Query, QueryResult } from '../query.js';
import { prefixOf } from '../records/prefix.js';
import type { Wallet } from '../state/wallet.js';
import type { Wallets } from '../state/wallets.js';
import { playerView } from './player-view.js';

/** Number of usernames examined in one turn, which takes about a millisecond. */
const NAMES_MAX = 10_000;

/** Finds players in creation order. */
export function findPlayers(
  wallets: Wallets,
  { prefix, from, limit }: Extract<Query, { type: 'find-players' }>,
): QueryResult {
  const players: PlayerView[] = [];
  const end = Math.min(from + NAMES_MAX, wallets.count);
  const wanted = prefixOf(prefix);
  let position = wallets.nextCalled(wanted, from, end);
  while (position < end && players.length < limit) {
    players.push(playerView(wallets.peekAt(position) as Wallet));
    position = wallets.nextCalled(wanted, position + 1, end);
  }
  return { type: 'found-players', players, next: position < wallets.count ? position : undefined };
}

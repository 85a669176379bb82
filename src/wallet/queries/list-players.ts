import type { PlayerVersion, QueryResult } from '../query.js';
import type { Wallet } from '../state/wallet.js';
import type { Wallets } from '../state/wallets.js';

/** Lists players in creation order. */
export function listPlayers(wallets: Wallets, from: number, limit: number): QueryResult {
  const players: PlayerVersion[] = [];
  const end = Math.min(from + limit, wallets.count);
  for (let position = from; position < end; position++) {
    const { username, currency, version, balance } = wallets.peekAt(position) as Wallet;
    players.push({ username, currency, version, balance });
  }
  return { type: 'players', players, next: end < wallets.count ? end : undefined };
}

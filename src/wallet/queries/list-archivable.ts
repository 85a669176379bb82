import { archivableRounds } from '../archiving.js';
import type { ArchivablePlayer, Query, QueryResult } from '../query.js';
import type { Wallet } from '../state/wallet.js';
import type { Wallets } from '../state/wallets.js';

/** Number of rounds serialized in one turn, at a few microseconds each. */
const ARCHIVABLE_MAX = 64;

/**
 * Lists players in creation order. Ends early, possibly in the middle of a player, if many rounds have to be
 * serialized.
 */
export function listArchivable(wallets: Wallets, scan: Extract<Query, { type: 'list-archivable' }>): QueryResult {
  const players: ArchivablePlayer[] = [];
  const end = Math.min(scan.from.position + scan.count, wallets.count);
  let { position, rounds: skipped } = scan.from;
  for (let left = ARCHIVABLE_MAX; position < end; position++, skipped = 0) {
    if (wallets.peekAt(position)?.mayHaveClosedBefore(scan.beforeMs) !== true) continue;
    const wallet = wallets.lookAt(position) as Wallet;
    const rounds = archivableRounds(wallet, scan.beforeMs, skipped, left);
    left -= rounds.length;
    if (rounds.length > 0) players.push({ username: wallet.username, rounds });
    if (left === 0) return { type: 'archivable', players, next: { position, rounds: skipped + rounds.length } };
  }
  return { type: 'archivable', players, next: { position: position < wallets.count ? position : 0, rounds: 0 } };
}

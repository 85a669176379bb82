import { assert } from '../../base/assert.js';
import type { PlayerDetails, QueryResult } from '../query.js';
import type { Wallet } from '../state/wallet.js';
import { sessionOf } from '../state/wallet-body.js';
import type { Wallets } from '../state/wallets.js';
import { playerView } from './player-view.js';

export function readPlayer(wallets: Wallets, username: string): QueryResult {
  const peeked = wallets.peek(username);
  // A player without open bets need not be woken.
  const wallet = peeked === undefined || peeked.openBets === 0 ? peeked : wallets.get(username);
  return { type: 'player', player: wallet && playerDetails(wallet) };
}

function playerDetails(wallet: Wallet): PlayerDetails {
  const { openBets } = wallet;
  const session = sessionOf(wallet);
  return {
    ...playerView(wallet),
    openBets,
    openStakes: String(openStakesOf(wallet, openBets)),
    session: session === undefined ? null : { endMs: session.endMs },
  };
}

/**
 * The sum of the open stakes. The scan ends at the last open bet, which is usually near the start of the list. Rounds
 * with open bets are never archived.
 */
function openStakesOf(wallet: Wallet, openBets: number): bigint {
  let stakes = 0n;
  let left = openBets;
  if (left === 0) return stakes;
  for (const item of wallet.transactions()) {
    if (item.kind !== 'bet' || !item.isOpen) continue;
    stakes += BigInt(item.stake);
    if (--left === 0) break;
  }
  assert(left === 0, 'open bets are counted');
  return stakes;
}

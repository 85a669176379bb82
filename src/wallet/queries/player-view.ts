import type { PlayerView } from '../query.js';
import type { Wallet } from '../state/wallet.js';

export function playerView(wallet: Wallet): PlayerView {
  const { username, currency, balance, blocked } = wallet;
  return { username, currency, balance, status: blocked ? 'blocked' : 'active' };
}

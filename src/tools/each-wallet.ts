import { must } from '../base/assert.js';
import type { Wallet } from '../wallet/state/wallet.js';
import type { Wallets } from '../wallet/state/wallets.js';
import type { StoreReader } from './store-reader.js';

const TURN_WALLETS = 500;

/** Calls `look` with each wallet. `look` must not modify the wallet. Yields regularly, so that other work can run. */
export async function forEachWallet(
  wallets: Wallets,
  { yieldTurn }: Pick<StoreReader, 'yieldTurn'>,
  look: (wallet: Wallet, position: number) => void,
): Promise<void> {
  for (let position = 0; position < wallets.count; position++) {
    look(must(wallets.at(position), 'every position has its wallet'), position);
    if (position % TURN_WALLETS === TURN_WALLETS - 1) await yieldTurn();
  }
}

import type { Wallet } from './wallet.js';

/**
 * Wallets as a snapshot has them, in the order in which they were created: a few hundred bytes each instead of a dozen
 * objects. Those that no command touches stay so.
 */
export interface PackedWallets {
  readonly count: number;
  /** Its position, or -1. */
  find(username: string): number;
  unpack(position: number): Wallet;
  /** As a snapshot takes it over. */
  bytes(position: number): Uint8Array;
  openBets(position: number): number;
  /** Nothing of the wallet was changed before this time. Milliseconds; infinite when there is nothing. */
  oldestMs(position: number): number;
}

export const NOTHING_PACKED: PackedWallets = {
  count: 0,
  find: () => -1,
  unpack: () => {
    throw new RangeError('nothing is packed');
  },
  bytes: () => new Uint8Array(0),
  openBets: () => 0,
  oldestMs: () => Number.POSITIVE_INFINITY,
};

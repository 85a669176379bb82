import { assert } from '../base/assert.js';
import { hashString } from '../base/hash.js';
import type { Wallet } from './wallet-state.js';

/**
 * A Map of a million entries stops the thread for 67 ms when it grows; one of 65,000 for 2 ms. 256 Maps carry 16
 * million wallets before one of them is that large. The low bits of the hash have picked the shard already.
 */
const PARTITION_BITS = 8;

/** All wallets of one shard. */
export class Wallets {
  private readonly partitions: Map<string, Wallet>[] = Array.from({ length: 1 << PARTITION_BITS }, () => new Map());
  private readonly inOrder: Wallet[] = [];

  get count(): number {
    return this.inOrder.length;
  }

  get(username: string): Wallet | undefined {
    return this.partitionOf(username).get(username);
  }

  add(wallet: Wallet): void {
    const partition = this.partitionOf(wallet.username);
    assert(!partition.has(wallet.username), 'a player is created once');
    partition.set(wallet.username, wallet);
    this.inOrder.push(wallet);
  }

  /** By order of creation: players are never removed, so a position stays what it is. */
  at(position: number): Wallet | undefined {
    return this.inOrder[position];
  }

  [Symbol.iterator](): IterableIterator<Wallet> {
    return this.inOrder[Symbol.iterator]();
  }

  private partitionOf(username: string): Map<string, Wallet> {
    return this.partitions[hashString(username) >>> (32 - PARTITION_BITS)] as Map<string, Wallet>;
  }
}

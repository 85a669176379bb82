import { assert } from '../../base/assert.js';
import { checkWallet } from '../invariants.js';
import { NOTHING_PACKED, type PackedWallets } from './packed-wallets.js';
import type { Wallet } from './wallet.js';

/**
 * A Map of a million entries stops the thread for 67 ms when it grows; one of 65,000 for 2 ms. 256 Maps carry 16
 * million wallets before one of them is that large.
 */
const PARTITIONS = 256;
const SAMPLES = 8;

/**
 * All wallets of one shard. Those that came with a snapshot stay packed until they are asked for: a million of them are
 * there in a fraction of the time that their objects would take.
 *
 *   position   0 ............ packed.count - 1 | packed.count .......... count - 1
 *              packed, or unpacked by now      | created since
 */
export class Wallets {
  private readonly partitions: Map<string, Wallet>[] = Array.from({ length: PARTITIONS }, () => new Map());
  /** By order of creation; a hole for one that is packed. */
  private readonly unpacked: (Wallet | undefined)[];
  /** Counts those of the wallets that are not packed; `apply` keeps it. */
  transactionCount = 0;
  private packedLeft: number;
  private peeked: { readonly position: number; readonly wallet: Wallet } | undefined = undefined;

  constructor(readonly packed: PackedWallets = NOTHING_PACKED) {
    this.packedLeft = packed.count;
    this.unpacked = new Array(packed.count).fill(undefined);
  }

  get count(): number {
    return this.unpacked.length;
  }

  /** Wallets that no command has touched yet. */
  get packedCount(): number {
    return this.packedLeft;
  }

  /** To change it: unpacks it for good. */
  get(username: string): Wallet | undefined {
    const wallet = this.partitionOf(username).get(username);
    if (wallet !== undefined) return wallet;
    const position = this.packed.find(username);
    return position === -1 ? undefined : this.unpack(position);
  }

  /** As `get`, to look at only. */
  peekNamed(username: string): Wallet | undefined {
    const wallet = this.partitionOf(username).get(username);
    if (wallet !== undefined) return wallet;
    const position = this.packed.find(username);
    return position === -1 ? undefined : this.peekPacked(position);
  }

  add(wallet: Wallet): void {
    const { username } = wallet;
    const partition = this.partitionOf(username);
    assert(!partition.has(username) && this.packed.find(username) === -1, 'a player is created once');
    partition.set(username, wallet);
    this.unpacked.push(wallet);
  }

  /** By order of creation: players are never removed, so a position stays what it is, also over snapshots. */
  at(position: number): Wallet | undefined {
    return this.unpacked[position] ?? (this.isPacked(position) ? this.unpack(position) : undefined);
  }

  isPacked(position: number): boolean {
    return position < this.packed.count && this.unpacked[position] === undefined;
  }

  /** As `at`, to look at only: one that is packed stays so. */
  peek(position: number): Wallet | undefined {
    return this.unpacked[position] ?? (this.isPacked(position) ? this.peekPacked(position) : undefined);
  }

  /** Of a wallet that is there. */
  usernameAt(position: number): string {
    return (this.peek(position) as Wallet).username;
  }

  openBetsAt(position: number): number {
    return this.unpacked[position]?.openBets ?? this.packed.openBets(position);
  }

  /** False when nothing of the wallet was changed before `beforeMs`. */
  mayHaveOlderThan(position: number, beforeMs: number): boolean {
    const wallet = this.unpacked[position];
    return wallet?.mayHaveOlderThan(beforeMs) ?? this.packed.oldestMs(position) < beforeMs;
  }

  /** All, to look at only. */
  *[Symbol.iterator](): IterableIterator<Wallet> {
    for (let position = 0; position < this.count; position++) yield this.peek(position) as Wallet;
  }

  /** The wallets that are not packed. */
  *touched(): IterableIterator<Wallet> {
    for (const wallet of this.unpacked) if (wallet !== undefined) yield wallet;
  }

  /** The last one is kept: paging through a long wallet would unpack all of it for each page. */
  private peekPacked(position: number): Wallet {
    if (this.peeked?.position !== position) this.peeked = { position, wallet: this.packed.unpack(position) };
    return this.peeked.wallet;
  }

  private unpack(position: number): Wallet {
    const wallet = this.peekPacked(position);
    this.peeked = undefined;
    checkWallet(wallet);
    this.transactionCount += wallet.transactionCount;
    this.packedLeft--;
    this.unpacked[position] = wallet;
    this.partitionOf(wallet.username).set(wallet.username, wallet);
    return wallet;
  }

  private partitionOf(username: string): Map<string, Wallet> {
    return this.partitions[partitionOf(username)] as Map<string, Wallet>;
  }
}

/** From eight characters spread over the name: to hash all of it took a tenth of a replay. */
function partitionOf(username: string): number {
  const { length } = username;
  let hash = length;
  for (let i = 0; i < SAMPLES; i++) {
    hash = Math.imul(hash ^ username.charCodeAt(Math.trunc((i * (length - 1)) / (SAMPLES - 1))), 0x01000193);
  }
  return (hash ^ (hash >>> 15)) & (PARTITIONS - 1);
}

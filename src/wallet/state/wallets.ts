import { assert, must } from '../../base/assert.js';
import { atOnce, type Steps } from '../../base/steps.js';
import { checkWallet } from '../invariants.js';
import { ByteWriter } from '../records/byte-writer.js';
import { Cursor } from '../records/bytes.js';
import type { Prefix } from '../records/prefix.js';
import { type TableSizes, Tables } from './tables.js';
import { type Counts, SHORT_MAX, Wallet } from './wallet.js';
import { hasPending, operationsOf, readBody, writeBody } from './wallet-body.js';

const bodyWriter = new ByteWriter();

/**
 * All wallets of one shard. Players are never removed. Each has a position in creation order that never changes, even
 * across snapshots. A wallet that is not used for a while hibernates, and it wakes when it is used again. A hibernated
 * player takes half the memory, and a snapshot copies its packed record unchanged. Only short wallets hibernate,
 * so that hibernating one takes only a few microseconds.
 */
export class Wallets {
  readonly tables: Tables;
  private unpackedCount = 0;
  private packedTransactions = 0;
  private nextToPack = 0;

  constructor(sizes?: TableSizes) {
    this.tables = new Tables(sizes);
  }

  get count(): number {
    return this.tables.players.count;
  }

  get packedCount(): number {
    return this.count - this.unpackedCount;
  }

  get transactionCount(): number {
    return this.tables.transactions.count + this.packedTransactions;
  }

  /** The player's wallet, woken if it was hibernated. */
  get(username: string): Wallet | undefined {
    const wallet = this.peek(username);
    if (wallet !== undefined) this.unpack(wallet);
    return wallet;
  }

  /** The player's wallet, without waking it. */
  peek(username: string): Wallet | undefined {
    const row = this.tables.findPlayer(username);
    return row === 0 ? undefined : new Wallet(this.tables, row, username);
  }

  create(username: string, currency: string): Wallet {
    assert(this.tables.findPlayer(username) === 0, 'a player is created once');
    return this.begin(currency, username);
  }

  /** Like `create`, but with the name in bytes. */
  createFrom(bytes: Buffer, start: number, end: number, currency: string): Wallet {
    assert(this.tables.findPlayerFrom(bytes, start, end) === 0, 'a player is created once');
    return this.begin(currency);
  }

  /** The wallet at a position in creation order, from 0; woken if it was hibernated. */
  at(position: number): Wallet | undefined {
    const wallet = this.peekAt(position);
    if (wallet !== undefined) this.unpack(wallet);
    return wallet;
  }

  /** Like `at`, but the access does not count as a use, so the wallet soon hibernates again. */
  lookAt(position: number): Wallet | undefined {
    const wallet = this.peekAt(position);
    if (wallet?.isPacked) atOnce(this.unpackInSteps(wallet));
    return wallet;
  }

  /** Like `at`, but without waking the wallet. */
  peekAt(position: number): Wallet | undefined {
    return position >= 0 && position < this.count ? new Wallet(this.tables, position + 1) : undefined;
  }

  /**
   * The first position in the range from `from` to `end` (exclusive) whose name starts with the prefix; `end` if there
   * is none.
   */
  nextCalled(prefix: Prefix, from: number, end: number): number {
    let position = from;
    while (position < end && !this.tables.isPlayerCalled(position + 1, prefix)) position++;
    return position;
  }

  /** All wallets. Wakes each of them. */
  *[Symbol.iterator](): IterableIterator<Wallet> {
    for (let position = 0; position < this.count; position++) yield must(this.at(position), 'every position is taken');
  }

  /** The wallets that are not hibernated. */
  *unpacked(): IterableIterator<Wallet> {
    for (let position = 0; position < this.count; position++) {
      const wallet = this.peekAt(position);
      if (wallet !== undefined && !wallet.isPacked) yield wallet;
    }
  }

  /** Sizes the tables for this many players in advance. */
  expect(count: number): void {
    this.tables.expectPlayers(count);
  }

  /**
   * Stores a packed record in a new wallet. `counts` describes the record. If the record is too long for a hibernated
   * wallet, returns the steps that wake it.
   */
  load(
    wallet: Wallet,
    counts: Counts,
    items: number,
    body: Buffer,
    start: number,
    length: number,
  ): Steps<void> | undefined {
    wallet.putBody(body, start, length);
    if (hasPending(wallet.body)) this.enterPending(wallet);
    wallet.counts = counts;
    wallet.isRecent = false;
    wallet.noteClosed(counts.oldestSeconds * 1000);
    this.unpackedCount--;
    this.packedTransactions += counts.transactions;
    return items > SHORT_MAX ? this.unpackInSteps(wallet) : undefined;
  }

  /** Requests that no second operator has decided in time. */
  expiredRequests(nowMs: number): readonly { readonly username: string; readonly id: string }[] {
    return this.tables.pending.expired(nowMs).map(({ player, id }) => {
      return { username: must(this.peekAt(player - 1), 'a request is about a player').username, id };
    });
  }

  private enterPending(wallet: Wallet): void {
    for (const { type, id, by, request } of operationsOf(wallet)) {
      if (type !== 'request' || request === undefined) continue;
      this.tables.pending.add(wallet.row, id, { by: by?.name, expiresMs: request.expiresMs });
    }
  }

  private begin(currency: string, username?: string): Wallet {
    const wallet = Wallet.begin(this.tables, currency, username);
    const { row } = wallet;
    assert(row === this.count, 'players are numbered by the order of their creation');
    this.tables.enterPlayer(row);
    wallet.isRecent = true;
    this.unpackedCount++;
    return wallet;
  }

  /**
   * Examines the next player in turn and hibernates the wallet if no command has used it since the previous
   * examination. Takes about ten microseconds.
   */
  hibernateNext(): void {
    if (this.nextToPack >= this.count) this.nextToPack = 0;
    const wallet = this.peekAt(this.nextToPack++);
    if (wallet === undefined || wallet.isPacked) return;
    if (wallet.isRecent) wallet.isRecent = false;
    else if (wallet.isShort) this.pack(wallet);
  }

  private pack(wallet: Wallet): void {
    bodyWriter.length = 0;
    atOnce(writeBody(bodyWriter, wallet));
    const { counts } = wallet;
    wallet.freeRecords();
    wallet.putBody(bodyWriter.written, 0, bodyWriter.length);
    wallet.counts = counts;
    this.unpackedCount--;
    this.packedTransactions += counts.transactions;
  }

  private unpack(wallet: Wallet): void {
    if (wallet.isPacked) atOnce(this.unpackInSteps(wallet));
    wallet.isRecent = true;
  }

  /** Wakes a wallet and checks its invariants, because the packed record may come from a snapshot. */
  private *unpackInSteps(wallet: Wallet): Steps<void> {
    const { counts } = wallet;
    const body = wallet.takeBody();
    this.unpackedCount++;
    this.packedTransactions -= counts.transactions;
    yield* readBody(new Cursor(body, 0), wallet);
    checkWallet(wallet);
    const { openBets, tombstones, transactions } = wallet.counts;
    const isSame =
      openBets === counts.openBets && tombstones === counts.tombstones && transactions === counts.transactions;
    assert(isSame, 'a wallet is unpacked as it was packed');
  }
}

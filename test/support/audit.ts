import assert from 'node:assert/strict';
import type { RememberedMessage } from '../../src/wallet/state/round.js';
import type { Tables } from '../../src/wallet/state/tables.js';
import type { Namespace, TransactionKind } from '../../src/wallet/state/transaction-kind.js';
import type { Wallet } from '../../src/wallet/state/wallet.js';
import { imageOf, type WalletImage } from '../../src/wallet/state/wallet-image.js';
import type { Wallets } from '../../src/wallet/state/wallets.js';

/**
 * The state on which two shards must agree: the image of each wallet, and the messages that its rounds remember, which
 * the image does not contain.
 */
export function imagesOf(wallets: Iterable<Wallet>): [WalletImage, RememberedMessage[]][] {
  return [...wallets].map((wallet) => [imageOf(wallet), rememberedBy(wallet)]);
}

function rememberedBy(wallet: Wallet): RememberedMessage[] {
  const rounds = new Map([...wallet.transactions()].map(({ round }) => [round.row, round]));
  return [...rounds.values()].flatMap(({ remembered }) => remembered);
}

/**
 * Asserts that every table entry is reachable from a wallet and found by its key, and that no unreachable entry is
 * marked as used.
 */
export function auditTables(wallets: Wallets): void {
  const { tables } = wallets;
  const { players, rounds, transactions, operations, blobs } = tables;
  const seen = { rounds: new Set<number>(), transactions: 0, operations: 0, named: 0, operationIds: 0, blobs: 0 };
  for (const wallet of wallets) {
    assert.equal(tables.findPlayer(wallet.username), wallet.row);
    const { tipsDay, carried, session } = wallet.rareFields;
    seen.blobs += 1 + (tipsDay === -1 && carried === 0n && session === undefined ? 0 : 1);
    const rows = [...wallet.transactions()].map(({ row }) => row);
    const backwards: number[] = [];
    for (let item = wallet.oldest; item !== undefined; item = wallet.newer(item)) backwards.push(item.row);
    assert.deepEqual(backwards, rows.reverse());
    const mine = new Map<number, number[]>();
    for (const item of wallet.transactions()) {
      seen.transactions++;
      seen.blobs++;
      const { round } = item;
      seen.rounds.add(round.row);
      mine.set(round.row, [...(mine.get(round.row) ?? []), item.row]);
      assert.equal(wallet.round(round.productId, round.id)?.row, round.row);
      if (item.kind === 'settlement') {
        assert.equal(round.settlement(item.id)?.transaction.row, item.row);
      } else if (item.kind !== 'mark') {
        seen.named++;
        assert.equal(wallet.named(namespaceOf(item.kind), round.productId, item.id)?.row, item.row);
      }
      if (item.isBet) assert.ok(round.isKnown);
    }
    for (const [row, rows] of mine) {
      const round = [...wallet.transactions()].find((item) => item.round.row === row)?.round;
      assert.deepEqual(
        [...(round?.members() ?? [])].map((item) => item.row),
        rows.reverse(),
        'members, oldest first',
      );
      seen.blobs += 1 + (round?.hasMessages ? 1 : 0);
    }
    for (const operation of wallet.allOperations()) {
      seen.operations++;
      if (operation.id === '') continue;
      seen.blobs++;
      seen.operationIds++;
      assert.equal(wallet.operation(operation.id)?.row, operation.row);
    }
  }
  assert.equal(players.count, wallets.count);
  assert.equal(rounds.count, seen.rounds.size);
  assert.equal(transactions.count, seen.transactions);
  assert.equal(operations.count, seen.operations);
  // Allow one unexplained record per wallet: a wallet whose rare fields have returned to zero keeps the record that
  // stores them.
  assert.ok(blobs.count >= seen.blobs && blobs.count <= seen.blobs + wallets.count, `${blobs.count} blobs`);
  assert.deepEqual(indexCounts(tables), [wallets.count, seen.rounds.size, seen.named, seen.operationIds]);
}

function indexCounts(tables: Tables): number[] {
  const names = ['playersByName', 'roundsById', 'transactionsById', 'operationsById'];
  return names.map((name) => (tables as unknown as Record<string, { count: number }>)[name]?.count ?? -1);
}

function namespaceOf(kind: TransactionKind): Namespace {
  return kind === 'reward' || kind === 'debit' || kind === 'credit' ? kind : 'bet';
}

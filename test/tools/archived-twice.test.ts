import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { hashOfName, hashOfPlayer } from '../../src/archive/archive-hash.js';
import { findInArchive } from '../../src/tools/inspect/find-in-store.js';
import { DEFAULT_COLUMNS } from '../../src/tools/reconcile/columns.js';
import type { Difference } from '../../src/tools/reconcile/difference.js';
import { reconcile } from '../../src/tools/reconcile/reconcile.js';
import { Window } from '../../src/tools/reconcile/window.js';
import type { StoreReader } from '../../src/tools/store-reader.js';
import { archivableRounds } from '../../src/wallet/archiving.js';
import { commands } from '../support/domain.js';
import { MemoryArchive } from '../support/memory-archive.js';
import { WrittenStore } from './written-store.js';

const BET = { id: 'a', betAmount: 10 };
const RESULT = { ...BET, payoutAmount: 20 };
const STATED = {
  betId: 'a',
  username: 'ann',
  currency: 'THB',
  productId: 'P1',
  roundId: 'r1',
  stake: 0.001,
  payout: 0,
};

/**
 * Creates a store whose only round was archived twice at the same end of the log, first as settled and then as void.
 */
async function storeOfOneRound(): Promise<StoreReader> {
  const store = new WrittenStore(1);
  const archive = new MemoryArchive();
  await store.takeOver();
  await store.fund('ann', 1000);
  await store.run(commands.place([BET]));
  await store.run(commands.settle([RESULT]));
  const { lsn } = await store.wal.head(0);
  const archivable = () => {
    const wallet = store.wallets[0]?.get('ann');
    assert.ok(wallet !== undefined);
    return archivableRounds(wallet, Number.POSITIVE_INFINITY, 0, 10);
  };
  const put = async (index: number) => {
    for (const { productId, roundId, image } of archivable()) {
      const names = { player: hashOfPlayer('ann'), round: hashOfName(productId, roundId) };
      await archive.put([{ shard: 0, day: 0, ...names, lsn, index, ids: [], image }]);
    }
  };
  await put(0);
  await store.run(commands.void([RESULT]));
  await put(1);
  await store.run({ type: 'archive', username: 'ann', rounds: archivable(), beforeMs: Number.MAX_SAFE_INTEGER });
  assert.deepEqual([archive.records.length, store.wallets[0]?.get('ann')?.round('P1', 'r1')], [2, undefined]);
  return { ...store.reader, archive };
}

test('reconcile compares a history with the newest archived record of a round', async () => {
  const differences: Difference[] = [];
  async function* history() {
    yield Buffer.from(`${JSON.stringify({ ...STATED, betStatus: 'VOID' })}\n`);
  }
  await reconcile(history(), await storeOfOneRound(), {
    columns: DEFAULT_COLUMNS,
    window: new Window(undefined, undefined),
    folder: tmpdir(),
    onDifferences: async (some) => void differences.push(...some),
  });
  assert.deepEqual(differences, []);
});

test('an id search in the archive finds the newest record of its round', async () => {
  const states: (string | undefined)[] = [];
  for await (const hit of findInArchive(await storeOfOneRound(), 'a', [], () => {})) states.push(hit.state);
  assert.deepEqual(states, ['VOID']);
});

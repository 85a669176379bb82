import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashOfName, hashOfPlayer, hashOfTransaction } from '../../../src/archive/archive-hash.js';
import { dayOf } from '../../../src/base/time.js';
import { verify } from '../../../src/tools/verify/verify.js';
import { archivableRounds } from '../../../src/wallet/archiving.js';
import { commands } from '../../support/domain.js';
import { MemoryArchive } from '../../support/memory-archive.js';
import { WrittenStore } from '../written-store.js';

const BET = { id: 'a', betAmount: 10 };
const RESULT = { ...BET, payoutAmount: 20 };

/** Creates a store whose only round belongs to ann and is in the archive. */
async function storeOfOneRound() {
  const store = new WrittenStore(1);
  const archive = new MemoryArchive();
  const archivable = () => {
    const wallet = store.wallets[0]?.get('ann');
    assert.ok(wallet !== undefined);
    return archivableRounds(wallet, Number.POSITIVE_INFINITY, 0, 10);
  };
  const leave = async () => {
    const { lsn } = await store.wal.head(0);
    const rounds = archivable();
    const player = hashOfPlayer('ann');
    for (const { productId, roundId, image, updatedMs, transactions } of rounds) {
      const ids = transactions
        .filter(({ kind }) => kind !== 'mark')
        .map(({ kind, id, version }) => ({ id: hashOfTransaction(kind, productId, roundId, id), version }));
      const round = hashOfName(productId, roundId);
      await archive.put([{ shard: 0, day: dayOf(updatedMs), player, round, lsn, index: 0, ids, image }]);
    }
    await store.run({ type: 'archive', username: 'ann', rounds, beforeMs: Number.MAX_SAFE_INTEGER });
    assert.equal(archivable().length, 0);
  };
  await store.takeOver();
  await store.fund('ann', 1000);
  await store.run(commands.place([BET]));
  await store.run(commands.settle([RESULT]));
  await leave();
  return { store, archive, leave };
}

for (const isDeep of [false, true]) {
  test(`a round that returns, changes and leaves again meanwhile causes no fault, deep: ${isDeep}`, async () => {
    const { store, archive, leave } = await storeOfOneRound();
    const days = archive.days.bind(archive);
    // Change the archive in this call, before which the log has been read.
    archive.days = async () => {
      archive.days = days;
      const images = archive.records.map(({ image }) => image);
      await store.run({ type: 'restore-rounds', username: 'ann', images });
      await store.run(commands.void([RESULT]));
      await leave();
      return await days();
    };
    const { findings, shards } = await verify({ ...store.reader, archive }, { isDeep, server: undefined });
    assert.deepEqual(findings.listed, []);
    assert.equal(archive.records.length, 2);
    assert.equal(shards[0]?.archived, 2, 'each by itself');
  });
}

test('an archived round that differs from the one that left memory is found', async () => {
  const { store, archive } = await storeOfOneRound();
  const other = await storeOfOneRound();
  await other.store.run({ type: 'restore-rounds', username: 'ann', images: other.archive.records.map((r) => r.image) });
  await other.store.run(commands.void([RESULT]));
  await other.leave();
  const [left] = archive.records;
  const changed = other.archive.records.at(-1);
  assert.ok(left !== undefined && changed !== undefined);
  archive.records = [{ ...changed, lsn: left.lsn }];
  const { findings } = await verify({ ...store.reader, archive }, { isDeep: true, server: undefined });
  assert.match(findings.listed[0]?.message ?? '', /another one in the archive/);
});

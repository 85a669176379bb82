import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.js';
import { silentLogger } from '../../../src/base/logger.js';
import type { Archive } from '../../../src/shard/archive/archive.js';
import { ShardArchive } from '../../../src/shard/archive/shard-archive.js';
import { MemoryArchive } from '../../support/memory-archive.js';

const DAY_MS = 86_400_000;
const SHARD = 0;

/** What one node knows of the archive that all share. It never gets to look there. */
function knowing(archive: Archive): ShardArchive {
  return new ShardArchive(SHARD, {
    archive,
    retentionMs: 40 * DAY_MS,
    clock: systemClock,
    log: silentLogger,
    observer: { looked() {}, archived() {}, archiveFailed() {} },
    defer: () => {},
    delay: async () => {},
  });
}

/** Puts a round of ann, as of the entry with this sequence. */
function put(node: ShardArchive, roundId: string, sequence: number): Promise<void> {
  const round = { productId: 'p', roundId, image: Buffer.from(roundId), updatedMs: 20_000 * DAY_MS, transactions: [] };
  return node.put({ epoch: 1, sequence }, [{ username: 'ann', rounds: [round] }]);
}

function mayHave(node: ShardArchive, roundId: string): boolean {
  return node.maybeFind('ann', 'p', { ids: [], rewardIds: [], roundIds: [roundId] }) !== undefined;
}

for (const during of ['freshNames', 'savedNames'] as const) {
  test(`who learns the names while the node before saves them, during ${during}, lacks none`, async () => {
    const archive = new MemoryArchive();
    const before = knowing(archive);
    await before.load();
    await put(before, 'first', 1);
    await before.save();
    await put(before, 'second', 2);
    await put(before, 'third', 3);
    const seen: Pick<Archive, 'freshNames' | 'savedNames'> = {
      async *freshNames(shard) {
        for await (const names of archive.freshNames(shard)) yield names;
        if (during === 'freshNames') await before.save();
      },
      async savedNames(shard) {
        const names = new Map(await archive.savedNames(shard));
        if (during === 'savedNames') await before.save();
        return names;
      },
    };
    const after = knowing(Object.assign(Object.create(archive) as MemoryArchive, seen));
    await after.load();
    assert.ok(!mayHave(after, 'another'), 'it knows what is not there');
    for (const roundId of ['first', 'second', 'third']) assert.ok(mayHave(after, roundId), roundId);
  });
}

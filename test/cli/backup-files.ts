import { statSync, truncateSync } from 'node:fs';
import { restoreTargetOf } from '../../src/cli/restore-target.js';
import { openFormats } from '../../src/store/format/store-formats.js';
import { LmdbStore } from '../../src/store/lmdb/lmdb-store.js';
import { shardOf } from '../../src/threads/placement.js';
import { checkBackup } from '../../src/tools/backup/backup-reader.js';
import { BackupWriter, writeNewBackup } from '../../src/tools/backup/backup-writer.js';
import { framesAfter } from '../../src/tools/backup/follow.js';
import { restoreFrames } from '../../src/tools/restore/restore.js';
import { commands } from '../support/domain.js';
import { MemoryWal } from '../support/memory-wal.js';
import { TestHost } from '../support/test-host.js';
import { framesOf, IMMEDIATE, SHARDS, STORE_ID, sourceOf } from '../tools/recorded-store.js';

const { place, settle } = commands;

const PLAYERS = ['ann', 'bob', 'cid', 'dan'];
/** The time of the last entry: 2023-11-14T22:13:25.000Z. */
const LAST_MS = 1_700_000_005_000;

/**
 * Writes a store without a server, and a backup of it with two segments. ann's win comes after the end of the first
 * segment.
 */
export async function writeTwoSegments(folder: string): Promise<{ readonly file: string; readonly store: string }> {
  const file = `${folder}/wallets.backup`;
  const wal = new MemoryWal(STORE_ID, SHARDS);
  const host = new TestHost({ wal, policy: { keep: 1 } });
  await host.start();
  for (const username of PLAYERS) {
    const shard = shardOf(username, SHARDS);
    await host.fund(username, 1_000_000, shard);
    await host.execute(place([{ id: 'bet', roundId: 'round', betAmount: 10 }], { username }), shard);
  }
  await host.host.takeSnapshots({ restMs: 0, deadlineMs: Number.POSITIVE_INFINITY });
  host.clock.nowMs += 1000;
  await host.fund('eve', 5, shardOf('eve', SHARDS));
  await (await writeNewBackup(file, framesOf(wal), new AbortController().signal)).close();
  host.clock.nowMs = LAST_MS;
  const [username] = PLAYERS as [string];
  await host.execute(
    settle([{ id: 'bet', roundId: 'round', payoutAmount: 25 }], { username }),
    shardOf(username, SHARDS),
  );
  const whole = await checkBackup(file);
  const writer = await BackupWriter.continue(file, whole);
  const stop = new AbortController();
  const options = { now: () => 2, warn: () => {}, signal: stop.signal };
  for await (const frame of framesAfter(sourceOf(wal), whole.coverage, options)) {
    if (frame.type === 'end') {
      await writer.endSegment(frame);
      stop.abort();
    } else {
      await writer.add(frame);
    }
  }
  await writer.close();
  const store = LmdbStore.open(`${folder}/data`);
  await restoreFrames(framesOf(wal), restoreTargetOf(store), { openFormats, retryPolicy: IMMEDIATE });
  await store.close();
  return { file, store: `lmdb:${folder}/data` };
}

/** Cuts off the last byte, so that the last segment is incomplete. */
export function withoutLastSegment(file: string): void {
  truncateSync(file, statSync(file).size - 1);
}

import { silentLogger } from '../../src/base/logger.js';
import { LSN_ZERO } from '../../src/ports/lsn.js';
import type { RetryPolicy } from '../../src/ports/retry-policy.js';
import type { SnapshotStore } from '../../src/ports/snapshot-store.js';
import type { Entry, Wal } from '../../src/ports/wal.js';
import { openFormats } from '../../src/store/format/store-formats.js';
import { encodeMeta, META_VERSION, type StoreMeta } from '../../src/store/meta.js';
import { framesOfStore } from '../../src/tools/backup/store-frames.js';
import type { SourceStore, TargetStore } from '../../src/tools/copy-ports.js';
import type { Frame, Frames } from '../../src/tools/frame.js';
import type { At } from '../../src/tools/point-in-time.js';
import { type Restored, restoreFrames } from '../../src/tools/restore/restore.js';
import type { WalletImage } from '../../src/wallet/state/wallet-image.js';
import type { LogsAndSnapshots } from '../contract/store-under-test.js';
import { recovered } from '../faults/recorded.js';
import { commands } from '../support/domain.js';
import { MemoryWal } from '../support/memory-wal.js';
import { TestHost } from '../support/test-host.js';

const { place, settle } = commands;

export const SHARDS = 2;
export const STORE_ID = '5b0c4d2e-8a41-4f6b-9c37-d1e2f3a4b5c6';
export const META: StoreMeta = {
  storeId: STORE_ID,
  formatVersion: META_VERSION,
  shards: SHARDS,
  hash: 'fnv1a-utf16-fmix32',
  scales: { default: 4, byCurrency: { JPY: 0 } },
  createdMs: 1_699_999_999_000,
};
export const formats = openFormats(encodeMeta(META));
export const IMMEDIATE: RetryPolicy = { attemptsMax: 1, log: silentLogger, delay: async () => {} };

/** An in-memory store has logs and snapshots in one object. A driver's store has a separate object for each. */
type Stored = (Wal & SnapshotStore) | LogsAndSnapshots;

export function partsOf(store: Stored): LogsAndSnapshots {
  return 'wal' in store ? store : { wal: store, snapshots: store };
}

export interface HistoryOptions {
  /** Number of bets that each owner executes. */
  readonly bets?: number;
  /** Number of snapshots to keep. With a large number, nothing is trimmed. */
  readonly keep?: number;
}

/** Creates a store written by three owners, with snapshots in between and entries after the last snapshot. */
export async function recordedHistory({ bets = 12, keep = 100 }: HistoryOptions = {}): Promise<MemoryWal> {
  const wal = new MemoryWal(STORE_ID, SHARDS);
  let nowMs = 1_700_000_000_000;
  for (let owner = 0; owner < 3; owner++) {
    const host = new TestHost({ wal, policy: { keep } });
    host.clock.nowMs = nowMs;
    await host.start();
    for (let bet = 0; bet < bets; bet++) {
      const shard = bet % SHARDS;
      const username = `player-${shard}-${bet % 3}`;
      const id = `bet-${owner}-${bet}`;
      host.clock.nowMs += 5;
      if (owner === 0) await host.fund(username, 1_000_000, shard);
      await host.execute(place([{ id, roundId: id, betAmount: bet + 1 }], { username }), shard);
      if (bet % 2 === 0) await host.execute(settle([{ id, roundId: id }], { username, id: `s-${id}` }), shard);
      if (bet % 5 === 4) await host.host.takeSnapshots({ restMs: 0, deadlineMs: Number.POSITIVE_INFINITY });
    }
    nowMs = host.clock.nowMs + 1000;
    await host.host.close();
  }
  return wal;
}

/** Lets a new owner take over the store and fund `bets` new players. */
export async function goOn(wal: MemoryWal, bets: number, name: string, options: HistoryOptions = {}): Promise<void> {
  const host = new TestHost({ wal, policy: { keep: options.keep ?? 100 } });
  host.clock.nowMs = 1_800_000_000_000;
  await host.start();
  for (let bet = 0; bet < bets; bet++) {
    const shard = bet % SHARDS;
    await host.fund(`${name}-${bet}`, bet, shard);
  }
  if (options.keep !== undefined) await host.host.takeSnapshots({ restMs: 0, deadlineMs: Number.POSITIVE_INFINITY });
  await host.host.close();
}

export function sourceOf(store: Stored): SourceStore {
  return { ...formats, ...partsOf(store) };
}

export function framesOf(
  store: Stored,
  options: { at?: At; warnings?: string[]; onProgress?: (done: number, total: number) => void } = {},
): AsyncGenerator<Frame, void> {
  const { warnings = [], at, onProgress = () => {} } = options;
  const warn = (sentence: string) => void warnings.push(sentence);
  return framesOfStore(sourceOf(store), { meta: encodeMeta(META), now: () => 1, warn, at, onProgress });
}

/** Restores into an in-memory store. */
export async function restored(frames: Frames, at?: At): Promise<{ wal: MemoryWal; result: Restored }> {
  const wal = new MemoryWal(STORE_ID, SHARDS);
  const result = await restoreFrames(frames, targetOf(wal), { openFormats, at, retryPolicy: IMMEDIATE });
  return { wal, result };
}

/**
 * A store that has already been created, as a restore target. `completed` counts how often it was marked as ready to
 * serve.
 */
export function targetOf(wal: MemoryWal): TargetStore & { completed: number } {
  const target = {
    completed: 0,
    append: wal.append.bind(wal),
    read: wal.read.bind(wal),
    snapshots: wal.snapshots.bind(wal),
    beginSnapshot: wal.beginSnapshot.bind(wal),
    writeChunk: wal.writeChunk.bind(wal),
    publishSnapshot: wal.publishSnapshot.bind(wal),
    deleteSnapshot: wal.deleteSnapshot.bind(wal),
    createIncomplete: async () => true,
    complete: async () => {
      target.completed++;
    },
  };
  return target;
}

/** The wallets that a server starting on this store would hold, as plain data per player. */
export function walletsOf(store: Stored): Promise<Map<string, WalletImage>> {
  return recovered(partsOf(store), META);
}

/** All entries of all logs, in hexadecimal. */
export async function logsOf(store: Pick<Wal, 'read'>): Promise<string[][]> {
  const logs: string[][] = [];
  for (let shard = 0; shard < SHARDS; shard++) {
    const entries = await store.read(shard, LSN_ZERO, 1_000_000);
    logs.push(entries.map((bytes) => bytes.toString('hex')));
  }
  return logs;
}

export async function entriesOf(store: Pick<Wal, 'read'>, shard: number): Promise<Entry[]> {
  return (await store.read(shard, LSN_ZERO, 1_000_000)).map((bytes) => formats.format.decode(bytes));
}

export async function collect(frames: Frames): Promise<Frame[]> {
  const all: Frame[] = [];
  for await (const frame of frames) all.push(frame);
  return all;
}

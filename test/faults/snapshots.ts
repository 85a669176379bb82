import { atOnce } from '../../src/base/steps.js';
import { SnapshotCodec } from '../../src/store/format/snapshot-codec.js';
import type { RawStore } from './raw-store.js';

const NOWHERE = { lsn: { epoch: 0, sequence: 0 }, nonce: '', checksum: 0 };

/** Settings that take a snapshot of each shard every second and trim the log up to the older of two snapshots. */
export const EAGER = {
  WALLETD_SHARDS: '2',
  WALLETD_SNAPSHOTS_EVERY_SECONDS: '1',
  WALLETD_SNAPSHOTS_KEEP: '2',
  WALLETD_HISTORY_MAX_BYTES: '0',
};

/** Finds the IDs of snapshots that were begun but not published. */
export async function unfinishedIn(raw: RawStore): Promise<string[]> {
  return (await snapshotsIn(raw)).filter(([, manifest]) => manifest.length === 0).map(([id]) => id);
}

/** IDs of published snapshots. */
export async function wholeIn(raw: RawStore): Promise<string[]> {
  return (await snapshotsIn(raw)).filter(([, manifest]) => manifest.length > 0).map(([id]) => id);
}

/** IDs of the transactions in the first chunk of a shard 0 snapshot, even of an unpublished one. */
export function transactionIdsIn(storeId: string, chunk: Buffer): Set<string> {
  const summary = { bytes: chunk.length, players: chunk.readUInt32BE(8), checksum: chunk.readUInt32BE(12) };
  const id = chunk.toString('hex', 16, 24);
  const head = { start: NOWHERE, end: NOWHERE, marks: [], timeMs: 0 };
  const reader = new SnapshotCodec(storeId).beginReading({
    ...head,
    id,
    shard: 0,
    players: summary.players,
    chunks: [summary],
  });
  atOnce(reader.addChunk(chunk));
  return new Set([...reader.finish()].flatMap((wallet) => [...wallet.transactions()].map(({ id }) => id)));
}

async function snapshotsIn(raw: RawStore): Promise<[id: string, manifest: Buffer][]> {
  const { shards } = await raw.meta();
  const found = await Promise.all(Array.from({ length: shards }, (_, shard) => raw.manifests(shard)));
  return found.flatMap((manifests) => [...manifests]);
}

import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { HASH_NAME } from '../base/hash.js';
import { decodeMeta, encodeMeta, restoredMeta } from '../store/meta.js';
import { formatPosition } from '../store/position-text.js';
import { shardOf } from '../threads/placement.js';
import type { TargetStore } from '../tools/copy-ports.js';
import type { Frames } from '../tools/frame.js';
import { restoreResharded } from '../tools/restore/reshard.js';
import { type Restored, type RestoreOptions, restoreFrames } from '../tools/restore/restore.js';
import { ToolError } from '../tools/store-reader.js';

/** Maximum of the `shards` setting. */
const SHARDS_MAX = 1024;
const ID_BYTES = 8;

export function parseShards(text: string): number {
  const shards = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : 0;
  if (shards < 1 || shards > SHARDS_MAX) throw new Error(`it must be a number of shards, from 1 to ${SHARDS_MAX}`);
  return shards;
}

/** Throws a `ToolError` if a store with this meta record cannot be restored into this number of shards. */
export function checkShards(meta: Buffer, shards: number | undefined): void {
  if (shards === undefined) return;
  const source = decodeMeta(meta);
  if (source.shards === shards) {
    throw new ToolError(`the store already has ${shards} shards: omit --shards to restore it unchanged`);
  }
  if (source.hash !== HASH_NAME) {
    throw new ToolError(`the store assigns players to shards by ${source.hash}, this walletd by ${HASH_NAME}`);
  }
}

/** Restores into the given number of shards, or into the same number if none is given. */
export async function restoreInShards(
  frames: Frames,
  target: TargetStore,
  shards: number | undefined,
  restoring: RestoreOptions,
): Promise<Restored> {
  if (shards === undefined) return await restoreFrames(frames, target, restoring);
  return await restoreResharded(frames, target, {
    ...restoring,
    shards,
    newMeta: (meta) =>
      encodeMeta(restoredMeta(decodeMeta(meta), { storeId: randomUUID(), createdMs: Date.now(), shards })),
    withEnds: (meta, storeId, positions) => {
      const complete = decodeMeta(meta);
      const restoredUpTo = { ...complete.restoredUpTo, [storeId]: positions.map(formatPosition) };
      return encodeMeta({ ...complete, restoredUpTo });
    },
    shardOf,
    owner: { host: hostname(), pid: process.pid, startedMs: Date.now() },
    newId: () => randomBytes(ID_BYTES).toString('hex'),
  });
}

import { compareLsn } from '../ports/lsn.js';
import { NewerFormatError, RecoveryError } from '../ports/recovery-error.js';
import type { Manifest, SnapshotFormat, SnapshotStore, StoredSnapshot } from '../ports/snapshot-store.js';
import type { Wallets } from '../wallet/state/wallets.js';

/** Thrown if a snapshot is unusable: a chunk is missing or differs from the one that was written. */
export class DamagedSnapshotError extends RecoveryError {
  constructor(
    readonly shard: number,
    readonly id: string,
    /** A human-readable description of the damage. */
    readonly reason: string,
  ) {
    super(`snapshot ${id} of shard ${shard} is damaged: ${reason}`);
  }
}

export interface SnapshotListDeps {
  readonly snapshots: Pick<SnapshotStore, 'snapshots'>;
  readonly snapshotFormat: SnapshotFormat;
}

export interface SnapshotReaderDeps {
  readonly snapshots: Pick<SnapshotStore, 'readChunks'>;
  readonly snapshotFormat: SnapshotFormat;
  /** Lets the thread's other work run. */
  readonly yieldTurn: () => Promise<void>;
}

/** A shard's snapshots in a store. Only their manifests have been checked; chunks have not been read. */
export interface SnapshotList {
  /** Complete snapshots, sorted by their end, newest first. */
  readonly whole: readonly Manifest[];
  readonly damaged: readonly { readonly id: string; readonly reason: string; readonly isNewer: boolean }[];
  /** Ids of snapshots that were begun but not published. */
  readonly unfinished: readonly string[];
}

/**
 * Number of chunks per read, about a megabyte. This takes few round trips to a remote store, and little memory compared
 * with the wallets.
 */
const CHUNKS_AT_ONCE = 8;

/** Like `sortSnapshots`, of the snapshots in the store. Rejects if the store cannot be read. */
export async function listSnapshots(shard: number, deps: SnapshotListDeps): Promise<SnapshotList> {
  return sortSnapshots(shard, await deps.snapshots.snapshots(shard), deps.snapshotFormat);
}

/**
 * Sorts the stored snapshots of a shard by state. Throws a `NewerFormatError` if a newer walletd wrote one of them:
 * that walletd may have trimmed or repaired the log, so the log alone does not prove that nothing is missing.
 */
export function sortSnapshots(shard: number, stored: readonly StoredSnapshot[], format: SnapshotFormat): SnapshotList {
  const list = sortAnySnapshots(shard, stored, format);
  const newer = list.damaged.find(({ isNewer }) => isNewer);
  if (newer === undefined) return list;
  throw new NewerFormatError(`snapshot ${newer.id} of shard ${shard} cannot be read: ${newer.reason}`);
}

/** Like `sortSnapshots`, but counts snapshots that a newer walletd wrote among the damaged ones. */
export function sortAnySnapshots(
  shard: number,
  stored: readonly StoredSnapshot[],
  format: SnapshotFormat,
): SnapshotList {
  const whole: Manifest[] = [];
  const damaged: SnapshotList['damaged'][number][] = [];
  const unfinished: string[] = [];
  for (const { id, manifest } of stored) {
    if (manifest === undefined) {
      unfinished.push(id);
      continue;
    }
    try {
      whole.push(openManifest(shard, { id, manifest }, format));
    } catch (error) {
      const { message, isUnknown } = error as Error & { isUnknown?: boolean };
      damaged.push({ id, reason: message, isNewer: isUnknown === true });
    }
  }
  whole.sort((a, b) => compareLsn(b.end.lsn, a.end.lsn) || compareLsn(b.start.lsn, a.start.lsn) || b.timeMs - a.timeMs);
  return { whole, damaged, unfinished };
}

/**
 * Loads the chunks of a complete snapshot. Throws a `DamagedSnapshotError` if a chunk is missing or differs from its
 * description in the manifest. Errors of a store outage are passed on.
 */
export async function readSnapshot(manifest: Manifest, deps: SnapshotReaderDeps): Promise<Wallets> {
  const reader = deps.snapshotFormat.beginReading(manifest);
  for await (const { bytes } of chunksOf(manifest, deps)) {
    const steps = reader.addChunk(bytes);
    while (!orDamaged(manifest, () => steps.next()).done) await deps.yieldTurn();
    await deps.yieldTurn();
  }
  return orDamaged(manifest, () => reader.finish());
}

export interface Chunk {
  readonly index: number;
  readonly bytes: Buffer;
}

/**
 * The chunks of a snapshot as stored, in order. Throws a `DamagedSnapshotError` if a chunk is missing or differs from
 * its description in the manifest.
 */
export async function* checkedChunks(
  manifest: Manifest,
  deps: Pick<SnapshotReaderDeps, 'snapshots' | 'snapshotFormat'>,
): AsyncGenerator<Chunk, void> {
  for await (const chunk of chunksOf(manifest, deps)) {
    orDamaged(manifest, () => deps.snapshotFormat.checkChunk(manifest, chunk.index, chunk.bytes));
    yield chunk;
  }
}

async function* chunksOf(
  { shard, id, chunks }: Manifest,
  { snapshots }: Pick<SnapshotReaderDeps, 'snapshots'>,
): AsyncGenerator<Chunk, void> {
  for (let first = 0; first < chunks.length; first += CHUNKS_AT_ONCE) {
    const count = Math.min(CHUNKS_AT_ONCE, chunks.length - first);
    const page = await snapshots.readChunks(shard, id, first, count);
    for (let i = 0; i < count; i++) {
      const bytes = page[i];
      if (bytes === undefined) throw new DamagedSnapshotError(shard, id, `chunk ${first + i} is missing`);
      yield { index: first + i, bytes };
    }
  }
}

function openManifest(shard: number, stored: StoredSnapshot & { manifest: Buffer }, format: SnapshotFormat): Manifest {
  const manifest = format.openManifest(stored.manifest);
  if (manifest.id !== stored.id || manifest.shard !== shard) {
    throw new Error(`its manifest belongs to snapshot ${manifest.id} of shard ${manifest.shard}`);
  }
  return manifest;
}

/** Calls `read`. If the bytes are unreadable, reports damage instead of a transient error. */
function orDamaged<T>({ shard, id }: Manifest, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new DamagedSnapshotError(shard, id, (error as Error).message);
  }
}

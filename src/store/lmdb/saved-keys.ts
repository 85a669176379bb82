import { setImmediate as turn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { encodeKeys, tryOpenKeys } from '../format/archive-keys.js';
import { ArchiveFile } from './archive-file.js';

const MAP_BYTES = 16 * 1024 ** 3;

/** The checksum of each saved part, by part number. */
type Checksums = Map<number, number>;

/**
 * Saved key filters of an LMDB archive: shard u16, part u32 (big-endian) -> see archive-keys.ts. A lost or outdated
 * part would make archived rounds look new; the shard's digest in the marks file reveals such a part.
 */
export class SavedKeys {
  private readonly file: ArchiveFile;
  /** Checksums by shard, as of this thread's last read or write. */
  private readonly checksums = new Map<number, Checksums>();

  constructor(path: string, onStuck: (why: string) => void) {
    this.file = new ArchiveFile(path, { mapSize: MAP_BYTES }, onStuck);
  }

  async read(shard: number): Promise<ReadonlyMap<number, Buffer | undefined>> {
    const parts = new Map<number, Buffer | undefined>();
    const checksums: Checksums = new Map();
    for (const number of this.partsOf(shard)) {
      const stored = this.file.root.get(keyOf(shard, number));
      parts.set(number, stored && tryOpenKeys(stored));
      if (stored !== undefined) checksums.set(number, checksumOf(stored));
      // Yield between parts, because each part has several megabytes.
      await turn();
    }
    this.checksums.set(shard, checksums);
    return parts;
  }

  async write(shard: number, parts: ReadonlyMap<number, Buffer | undefined>): Promise<void> {
    const stored = [...parts].map(([number, part]) => [number, part && encodeKeys(part)] as const);
    const bytes = stored.reduce((sum, [, part]) => sum + (part?.length ?? 0), 0);
    const { root } = this.file;
    await this.file.replace(bytes, parts.size, () => {
      for (const [number, part] of stored) {
        if (part === undefined) void root.remove(keyOf(shard, number));
        else void root.put(keyOf(shard, number), part);
      }
    });
    const checksums = this.checksums.get(shard) ?? new Map<number, number>();
    for (const [number, part] of stored) {
      if (part === undefined) checksums.delete(number);
      else checksums.set(number, checksumOf(part));
    }
    this.checksums.set(shard, checksums);
  }

  /**
   * The digest of a shard's saved parts: a checksum of all part numbers and part checksums. Undefined if the shard has
   * none.
   */
  digest(shard: number): number | undefined {
    const parts = [...(this.checksums.get(shard) ?? [])].sort(([one], [other]) => one - other);
    return parts.length === 0 ? undefined : crc32(JSON.stringify(parts));
  }

  async close(): Promise<void> {
    await this.file.close();
  }

  private partsOf(shard: number): number[] {
    const { root } = this.file;
    root.resetReadTxn();
    const keys = root.getKeys({ start: keyOf(shard, 0), end: keyOf(shard + 1, 0) });
    return Array.from(keys, (key) => Buffer.from(key as Buffer).readUInt32BE(2));
  }
}

/** The checksum at the beginning of a saved part; 0 if the part is cut off. */
function checksumOf(stored: Buffer): number {
  return stored.length < 4 ? 0 : stored.readUInt32BE(0);
}

function keyOf(shard: number, part: number): Buffer {
  const key = Buffer.allocUnsafe(6);
  key.writeUInt16BE(shard, 0);
  key.writeUInt32BE(part, 2);
  return key;
}

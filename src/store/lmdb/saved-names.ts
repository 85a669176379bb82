import { maybeOpenNames, sealNames } from '../format/archive-names.js';
import { ArchiveFile } from './archive-file.js';

const MAP_BYTES = 16 * 1024 ** 3;

/** What is known of the names in an LMDB archive: shard u16, part u32 (big-endian) -> see archive-names.ts. */
export class SavedNames {
  private readonly file: ArchiveFile;

  constructor(path: string, onStuck: (why: string) => void) {
    this.file = new ArchiveFile(path, { mapSize: MAP_BYTES }, onStuck);
  }

  read(shard: number): ReadonlyMap<number, Buffer | undefined> {
    const { root } = this.file;
    root.resetReadTxn();
    const range = root.getRange({ start: keyOf(shard, 0), end: keyOf(shard + 1, 0) });
    return new Map(
      Array.from(range, ({ key, value }) => [Buffer.from(key as Buffer).readUInt32BE(2), maybeOpenNames(value)]),
    );
  }

  async write(shard: number, parts: ReadonlyMap<number, Buffer | undefined>): Promise<void> {
    const bytes = [...parts.values()].reduce((sum, part) => sum + (part?.length ?? 0), 0);
    const { root } = this.file;
    await this.file.replace(bytes, parts.size, () => {
      for (const [number, part] of parts) {
        if (part === undefined) void root.remove(keyOf(shard, number));
        else void root.put(keyOf(shard, number), sealNames(part));
      }
    });
  }

  async close(): Promise<void> {
    await this.file.close();
  }
}

function keyOf(shard: number, part: number): Buffer {
  const key = Buffer.allocUnsafe(6);
  key.writeUInt16BE(shard, 0);
  key.writeUInt32BE(part, 2);
  return key;
}

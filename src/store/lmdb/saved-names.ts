import { open, type RootDatabase } from 'lmdb';
import { maybeOpenNames, sealNames } from '../format/archive-names.js';
import { Commits } from './commits.js';
import { BINARY, usedBytes } from './environment.js';
import { FileGrowth } from './file-growth.js';

/** Address space, not memory. */
const MAP_BYTES = 16 * 1024 ** 3;

/** What is known of the names in an LMDB archive: shard u16, part u32 (big-endian) -> see archive-names.ts. */
export class SavedNames {
  private readonly root: RootDatabase<Buffer, Buffer>;
  private readonly growth: FileGrowth;
  private readonly commits: Commits;

  constructor(path: string, onStuck: (why: string) => void) {
    this.root = open({ path, noSubdir: true, overlappingSync: false, mapSize: MAP_BYTES, ...BINARY });
    this.growth = new FileGrowth(path, () => usedBytes(this.root));
    this.commits = new Commits(this.root, this.growth, onStuck);
  }

  read(shard: number): ReadonlyMap<number, Buffer | undefined> {
    this.root.resetReadTxn();
    const range = this.root.getRange({ start: keyOf(shard, 0), end: keyOf(shard + 1, 0) });
    return new Map(
      Array.from(range, ({ key, value }) => [Buffer.from(key as Buffer).readUInt32BE(2), maybeOpenNames(value)]),
    );
  }

  async write(shard: number, parts: ReadonlyMap<number, Buffer | undefined>): Promise<void> {
    const bytes = [...parts.values()].reduce((sum, part) => sum + (part?.length ?? 0), 0);
    await this.growth.room(bytes, parts.size);
    const writes = this.root.batch(() => {
      for (const [number, part] of parts) {
        if (part === undefined) void this.root.remove(keyOf(shard, number));
        else void this.root.put(keyOf(shard, number), sealNames(part));
      }
    });
    try {
      await this.commits.landed(writes);
    } catch (error) {
      throw await this.commits.causeOf(error);
    }
    this.growth.removed();
  }

  async close(): Promise<void> {
    await this.growth.close();
    await this.root.close();
  }
}

function keyOf(shard: number, part: number): Buffer {
  const key = Buffer.allocUnsafe(6);
  key.writeUInt16BE(shard, 0);
  key.writeUInt32BE(part, 2);
  return key;
}

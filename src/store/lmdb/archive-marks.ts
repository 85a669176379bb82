import { open, type RootDatabase } from 'lmdb';
import type { ArchiveMark } from '../../wallet/archive-mark.js';
import { compareMarks } from '../../wallet/archive-mark.js';
import { Commits } from './commits.js';
import { BINARY, usedBytes } from './environment.js';
import { FileGrowth } from './file-growth.js';

/** Address space, not memory. */
const MAP_BYTES = 1024 ** 3;
const MARK = 0x6d;
const DAY = 0x64;
const ROW_BYTES = 32;

/**
 * The least that an LMDB archive must have, in a file of its own that is written behind each put: days, each with the number of its
 * records, and of each shard the newest record that was ever put.
 *
 *   'd', day u32    -> records u32
 *   'm', shard u16  -> epoch u32, sequence u48, index u16
 *
 * Integers are big-endian.
 */
export class ArchiveMarks {
  private readonly root: RootDatabase<Buffer, Buffer>;
  private readonly growth: FileGrowth;
  private readonly commits: Commits;

  constructor(path: string, onStuck: (why: string) => void) {
    this.root = open({ path, noSubdir: true, overlappingSync: false, mapSize: MAP_BYTES, ...BINARY });
    this.growth = new FileGrowth(path, () => usedBytes(this.root));
    this.commits = new Commits(this.root, this.growth, onStuck);
  }

  mark(shard: number): ArchiveMark | undefined {
    this.root.resetReadTxn();
    const value = this.root.get(markKey(shard));
    if (value === undefined) return undefined;
    return { epoch: value.readUInt32BE(0), sequence: value.readUIntBE(4, 6), index: value.readUInt16BE(10) };
  }

  /** By day, the least number of its records. */
  days(): ReadonlyMap<number, number> {
    this.root.resetReadTxn();
    const range = this.root.getRange({ start: dayKey(0), end: Buffer.from([DAY + 1]) });
    return new Map(
      Array.from(range, ({ key, value }) => [Buffer.from(key as Buffer).readUInt32BE(1), value.readUInt32BE(0)]),
    );
  }

  /** The least number of records of a day; 0 for a day that is not listed. */
  recordsOf(day: number): number {
    this.root.resetReadTxn();
    return this.root.get(dayKey(day))?.readUInt32BE(0) ?? 0;
  }

  /** Durable when it resolves. A mark never goes down; 0 records: the day is gone. */
  async write(marks: ReadonlyMap<number, ArchiveMark>, days: ReadonlyMap<number, number>): Promise<void> {
    await this.growth.room((marks.size + days.size) * ROW_BYTES, marks.size + days.size);
    // Only the owner of a shard puts its records, so nobody else raises its mark meanwhile.
    const raised = [...marks].filter(([shard, mark]) => compareMarks(this.mark(shard), mark) < 0);
    const writes = this.root.batch(() => {
      for (const [shard, mark] of raised) void this.root.put(markKey(shard), markValue(mark));
      for (const [day, records] of days) {
        if (records === 0) void this.root.remove(dayKey(day));
        else void this.root.put(dayKey(day), countValue(records));
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

function markKey(shard: number): Buffer {
  const key = Buffer.from([MARK, 0, 0]);
  key.writeUInt16BE(shard, 1);
  return key;
}

function markValue({ epoch, sequence, index }: ArchiveMark): Buffer {
  const value = Buffer.alloc(12);
  value.writeUInt32BE(epoch, 0);
  value.writeUIntBE(sequence, 4, 6);
  value.writeUInt16BE(index, 10);
  return value;
}

function dayKey(day: number): Buffer {
  const key = Buffer.from([DAY, 0, 0, 0, 0]);
  key.writeUInt32BE(day, 1);
  return key;
}

function countValue(records: number): Buffer {
  const value = Buffer.alloc(4);
  value.writeUInt32BE(records, 0);
  return value;
}

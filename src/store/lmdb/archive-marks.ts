import { type ArchiveMark, compareMarks } from '../../wallet/archive-mark.js';
import { ArchiveFile } from './archive-file.js';

const MAP_BYTES = 1024 ** 3;
const MARK = 0x6d;
const DAY = 0x64;
const NAMES = 0x6e;
const FIRST_DAY = 0x66;
const ROW_BYTES = 32;

/**
 * The least that an LMDB archive must have, in a file of its own that is written behind each put: days, each with the number of its
 * records, and of each shard the newest record that was ever put. All days before the first one have been dropped.
 *
 *   'd', day u32    -> records u32
 *   'f'             -> the oldest day that is kept u32
 *   'm', shard u16  -> epoch u32, sequence u48, index u16
 *   'n', shard u16  -> checksum u32 of what was saved last of the shard's names; see saved-names.ts
 *
 * Integers are big-endian.
 */
export class ArchiveMarks {
  private readonly file: ArchiveFile;
  private isClosed = false;

  constructor(path: string, onStuck: (why: string) => void) {
    this.file = new ArchiveFile(path, { mapSize: MAP_BYTES }, onStuck);
  }

  mark(shard: number): ArchiveMark | undefined {
    const value = this.read(shardKey(MARK, shard));
    if (value === undefined) return undefined;
    return { epoch: value.readUInt32BE(0), sequence: value.readUIntBE(4, 6), index: value.readUInt16BE(10) };
  }

  /** By day, the least number of its records. */
  days(): ReadonlyMap<number, number> {
    const { root } = this.file;
    root.resetReadTxn();
    const days = Array.from(root.getRange(DAYS), ({ key, value }): [number, number] => [
      Buffer.from(key as Buffer).readUInt32BE(1),
      value.readUInt32BE(0),
    ]);
    // A put that was on its way when its day was dropped may have listed the day once more.
    return new Map(days.filter(([day]) => day >= this.firstDay));
  }

  /** The oldest day that is kept; 0 where no day has been dropped. */
  get firstDay(): number {
    return this.read(FIRST_DAY_KEY)?.readUInt32BE(0) ?? 0;
  }

  /** False where an older walletd has written all days that there are, or nobody any. */
  get hasDays(): boolean {
    const { root } = this.file;
    root.resetReadTxn();
    return Array.from(root.getKeys({ ...DAYS, limit: 1 })).length > 0;
  }

  /** The least number of records of a day; 0 for a day that is not listed. */
  recordsOf(day: number): number {
    return this.read(dayKey(day))?.readUInt32BE(0) ?? 0;
  }

  /** Durable when it resolves. A mark never goes down, and the first day neither; 0 records: the day is gone. */
  async write(
    marks: ReadonlyMap<number, ArchiveMark>,
    days: ReadonlyMap<number, number>,
    firstDay?: number,
  ): Promise<void> {
    const rows = marks.size + days.size + 1;
    const { root } = this.file;
    await this.file.replace(rows * ROW_BYTES, rows, () => {
      // Only the owner of a shard puts its records, so nobody else raises its mark meanwhile.
      const raised = [...marks].filter(([shard, mark]) => compareMarks(this.mark(shard), mark) < 0);
      for (const [shard, mark] of raised) void root.put(shardKey(MARK, shard), markValue(mark));
      for (const [day, records] of days) {
        if (records === 0) void root.remove(dayKey(day));
        else void root.put(dayKey(day), countValue(records));
      }
      if (firstDay !== undefined && firstDay > this.firstDay) void root.put(FIRST_DAY_KEY, countValue(firstDay));
    });
  }

  /** Undefined where nothing was saved since there are digests. */
  namesDigest(shard: number): number | undefined {
    return this.read(shardKey(NAMES, shard))?.readUInt32BE(0);
  }

  /** Durable when it resolves. */
  async writeNamesDigest(shard: number, digest: number | undefined): Promise<void> {
    await this.file.replace(ROW_BYTES, 1, () => {
      const key = shardKey(NAMES, shard);
      if (digest === undefined) void this.file.root.remove(key);
      else void this.file.root.put(key, countValue(digest));
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.file.close();
  }

  private read(key: Buffer): Buffer | undefined {
    // Behind its end lmdb answers once more, and throws from a timer where nobody can catch it.
    if (this.isClosed) throw new Error('the archive is closed');
    this.file.root.resetReadTxn();
    return this.file.root.get(key);
  }
}

const FIRST_DAY_KEY = Buffer.from([FIRST_DAY]);
/** Keys of all days. */
const DAYS = { start: dayKey(0), end: Buffer.from([DAY + 1]) };

function shardKey(kind: number, shard: number): Buffer {
  const key = Buffer.from([kind, 0, 0]);
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

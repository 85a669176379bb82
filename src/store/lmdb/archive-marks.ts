import { crc32 } from 'node:zlib';
import { DamagedArchiveError } from '../../ports/damaged-archive-error.js';
import { type ArchiveMark, compareMarks } from '../../wallet/archive-mark.js';
import { ArchiveFile } from './archive-file.js';

const MAP_BYTES = 1024 ** 3;
const MARK = 0x6d;
const DAY = 0x64;
const NAMES = 0x6e;
const FIRST_DAY = 0x66;
const ROW_BYTES = 32;
const CHECKSUM_BYTES = 4;
/** Length of a value without its checksum, by kind of row. */
const VALUE_BYTES: Readonly<Record<number, number>> = { [DAY]: 4, [FIRST_DAY]: 4, [MARK]: 12, [NAMES]: 4 };

/**
 * A record of what an LMDB archive must contain, in a separate file that is written after each put. The file lists each
 * day with its minimum number of records, and for each shard the newest record that was ever put. All days before the
 * first day have been dropped.
 *
 *   'd', day u32    -> records u32
 *   'f'             -> oldest day that is kept u32
 *   'm', shard u16  -> epoch u32, sequence u48, index u16
 *   'n', shard u16  -> checksum u32 of the shard's last saved keys; see saved-keys.ts
 *
 * Integers are big-endian. Each value is followed by the CRC-32 of its key and value. Rows of older releases have no
 * checksum and are read unchecked.
 */
export class ArchiveMarks {
  private readonly file: ArchiveFile;

  /**
   * `damaged` decides how rows with a wrong checksum are handled. With `refused`, reading such a row throws an error.
   * With `reported`, such a row counts as absent, and the caller reports it.
   */
  constructor(
    private readonly path: string,
    onStuck: (why: string) => void,
    private readonly damaged: 'refused' | 'reported' = 'refused',
  ) {
    this.file = new ArchiveFile(path, { mapSize: MAP_BYTES }, onStuck);
  }

  mark(shard: number): ArchiveMark | undefined {
    const value = this.read(shardKey(MARK, shard));
    if (value === undefined) return undefined;
    return { epoch: value.readUInt32BE(0), sequence: value.readUIntBE(4, 6), index: value.readUInt16BE(10) };
  }

  /** Minimum number of records, by day. */
  days(): ReadonlyMap<number, number> {
    const { root } = this.file;
    root.resetReadTxn();
    const days = Array.from(root.getRange(DAYS)).flatMap(({ key, value }): [number, number][] => {
      const day = Buffer.from(key as Buffer);
      const records = this.opened(day, value)?.readUInt32BE(0);
      return records === undefined ? [] : [[day.readUInt32BE(1), records]];
    });
    // A put that was in progress while its day was dropped may have listed the day again.
    return new Map(days.filter(([day]) => day >= this.firstDay));
  }

  /** The oldest day that is kept; 0 if no day has been dropped. */
  get firstDay(): number {
    return this.read(FIRST_DAY_KEY)?.readUInt32BE(0) ?? 0;
  }

  /** False if no day is listed: either the archive has no days, or an older walletd wrote them all. */
  get hasDays(): boolean {
    const { root } = this.file;
    root.resetReadTxn();
    return Array.from(root.getKeys({ ...DAYS, limit: 1 })).length > 0;
  }

  /** Minimum number of records on a day; 0 for a day that is not listed. */
  recordsOf(day: number): number {
    return this.read(dayKey(day))?.readUInt32BE(0) ?? 0;
  }

  /**
   * Resolves when the write is durable. Marks and the first day never go down. A day with 0 records is removed from the
   * list.
   */
  async write(
    marks: ReadonlyMap<number, ArchiveMark>,
    days: ReadonlyMap<number, number>,
    firstDay?: number,
  ): Promise<void> {
    const rows = marks.size + days.size + 1;
    const { root } = this.file;
    await this.file.replace(rows * ROW_BYTES, rows, () => {
      // Only the owner of a shard adds archive records for that shard, so no other process can raise that shard's mark
      // meanwhile.
      const raised = [...marks].filter(([shard, mark]) => compareMarks(this.mark(shard), mark) < 0);
      for (const [shard, mark] of raised) this.put(shardKey(MARK, shard), markValue(mark));
      for (const [day, records] of days) {
        if (records === 0) void root.remove(dayKey(day));
        else this.put(dayKey(day), countValue(records));
      }
      if (firstDay !== undefined && firstDay > this.firstDay) this.put(FIRST_DAY_KEY, countValue(firstDay));
    });
  }

  /**
   * The digest of a shard's saved keys. Undefined if no keys were saved or the row is damaged; in both cases the keys
   * are read from the records again.
   */
  keysDigest(shard: number): number | undefined {
    const key = shardKey(NAMES, shard);
    const row = this.get(key);
    return row && findValue(key, row)?.readUInt32BE(0);
  }

  /** Number of rows, and the keys of damaged rows. */
  rows(): { readonly count: number; readonly damaged: readonly Buffer[] } {
    const { root } = this.file;
    root.resetReadTxn();
    const rows = Array.from(root.getRange(), ({ key, value }) => ({ key: Buffer.from(key as Buffer), value }));
    const damaged = rows.filter(({ key, value }) => findValue(key, value) === undefined).map(({ key }) => key);
    return { count: rows.length, damaged };
  }

  /** Removes the damaged rows. Durable when the promise resolves. */
  async removeDamaged(): Promise<void> {
    const { damaged } = this.rows();
    if (damaged.length === 0) return;
    await this.file.replace(damaged.length * ROW_BYTES, damaged.length, () => {
      for (const key of damaged) void this.file.root.remove(key);
    });
  }

  /** Writes the digest of a shard's saved keys. Durable when the promise resolves. */
  async writeKeysDigest(shard: number, digest: number | undefined): Promise<void> {
    await this.file.replace(ROW_BYTES, 1, () => {
      const key = shardKey(NAMES, shard);
      if (digest === undefined) void this.file.root.remove(key);
      else this.put(key, countValue(digest));
    });
  }

  async close(): Promise<void> {
    await this.file.close();
  }

  /** Queues a row with its checksum. */
  private put(key: Buffer, value: Buffer): void {
    void this.file.root.put(key, Buffer.concat([value, checksumOf(key, value)]));
  }

  private read(key: Buffer): Buffer | undefined {
    const row = this.get(key);
    return row && this.opened(key, row);
  }

  private opened(key: Buffer, row: Buffer): Buffer | undefined {
    const value = findValue(key, row);
    if (value !== undefined || this.damaged === 'reported') return value;
    throw new DamagedArchiveError(
      `the file ${this.path} of the archive is damaged, at its row ${key.toString('hex')}: restore a backup; ` +
        'as a last resort, `walletd accept-loss --archive` counts the remaining rounds again',
    );
  }

  private get(key: Buffer): Buffer | undefined {
    const { root } = this.file;
    root.resetReadTxn();
    return root.get(key);
  }
}

function checksumOf(key: Buffer, value: Buffer): Buffer {
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32BE(crc32(value, crc32(key)));
  return checksum;
}

/** Returns a row's value without the checksum; undefined if the checksum is wrong. */
function findValue(key: Buffer, row: Buffer): Buffer | undefined {
  const bytes = VALUE_BYTES[key[0] ?? 0];
  if (row.length === bytes) return row;
  const value = row.subarray(0, bytes);
  return row.length === value.length + CHECKSUM_BYTES && checksumOf(key, value).equals(row.subarray(bytes))
    ? value
    : undefined;
}

const FIRST_DAY_KEY = Buffer.from([FIRST_DAY]);
/** The key range of all days. */
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

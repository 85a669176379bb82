import { setImmediate as turn } from 'node:timers/promises';
import type { Database, RootDatabase } from 'lmdb';
import { messageOf } from '../../base/message-of.js';
import { DamagedArchiveError } from '../../shard/archive/damaged-archive-error.js';
import { FormatError } from '../format/format-error.js';
import { BINARY } from './environment.js';

/** Rows, and about as many bytes, that are read in one turn of the event loop. */
const BATCH = 500;
const BATCH_BYTES = 1024 ** 2;
const NOTHING = Buffer.alloc(0);
const ZERO = Buffer.alloc(1);

/** Errors by which LMDB tells that a page is not as it was written. */
const DAMAGED =
  /MDB_(CORRUPTED|PAGE_NOTFOUND|INVALID|VERSION_MISMATCH|PAGE_FULL|CURSOR_FULL|BAD_VALSIZE|BAD_TXN|INCOMPATIBLE)/;

export interface Row {
  readonly key: Buffer;
  readonly value: Buffer;
}

export interface Batch {
  readonly rows: readonly Row[];
  /** Keys whose rows were written and cannot be found any more. */
  readonly lost: readonly Buffer[];
}

/**
 * A table that notices what it has lost. LMDB's pages have no checksums: with one flipped bit in a key, or in a page on the way
 * to it, a search finds nothing. So each key stands in a second tree, too, whose pages are others: a key that only this one has is
 * the key of a lost row. A row that only the table has was written before there were second trees, and counts.
 */
export class ProvenTable {
  private readonly rows: Database<Buffer, Buffer>;
  /** Undefined in a file of an older walletd, until something is written, here or by another thread. */
  private found: Database<Buffer, Buffer> | undefined;

  /** `keyBytes`: length of a key. `path`: for people. */
  constructor(
    private readonly root: RootDatabase<Buffer, Buffer>,
    private readonly name: string,
    private readonly keyBytes: number,
    private readonly path: string,
  ) {
    this.rows = root.openDB<Buffer, Buffer>({ name, ...BINARY });
  }

  private get keys(): Database<Buffer, Buffer> | undefined {
    // The file has the name of each table as a key, with a NUL behind it. To open a table takes the lock of writers.
    if (this.found === undefined && this.root.doesExist(Buffer.from(`${keysOf(this.name)}\0`))) this.prepare();
    return this.found;
  }

  /** Number of rows. */
  get count(): number {
    return entriesOf(this.rows);
  }

  /** False where an older walletd has written some rows. */
  get isProven(): boolean {
    return this.keys !== undefined && entriesOf(this.keys) >= this.count;
  }

  /** Makes the second tree where there is none; to be called when there is room for it on the disk. */
  prepare(): void {
    this.found ??= this.root.openDB<Buffer, Buffer>({ name: keysOf(this.name), ...BINARY });
  }

  /** Queues a write. */
  put(key: Buffer, value: Buffer): void {
    void this.rows.put(key, value);
    this.prove(key);
  }

  /** Queues a write of the key alone, behind the row of an older walletd. */
  prove(key: Buffer): void {
    void this.keys?.put(key, NOTHING);
  }

  /** Queues removals. */
  async remove(keys: readonly Buffer[]): Promise<void> {
    await Promise.all(keys.flatMap((key) => [this.rows.remove(key), this.keys?.remove(key)]));
  }

  /** Throws the result of `lost` for a row that cannot be found any more. */
  find(key: Buffer, lost: () => Error): Buffer | undefined {
    return this.guarded(() => {
      this.rows.resetReadTxn();
      // In this order: a put that lands in between is no loss.
      const isThere = this.keys?.get(key) !== undefined;
      const value = this.rows.get(key);
      if (value === undefined && isThere) throw lost();
      return value;
    });
  }

  /** All whose keys begin so, in their order. Rejects with a `DamagedArchiveError` where it cannot go on. */
  range(prefix: Buffer): AsyncIterable<Batch> {
    return this.between(prefix, behind(prefix));
  }

  async *between(first: Buffer, end: Buffer): AsyncIterable<Batch> {
    for (let start = first; ; await turn()) {
      const { batch, last } = this.guarded(() => this.read(start, end));
      if (batch.rows.length > 0 || batch.lost.length > 0) yield batch;
      if (last === undefined) return;
      start = Buffer.concat([last, ZERO]);
    }
  }

  /** `last`: the end of the batch; undefined when nothing is behind it. */
  private read(start: Buffer, end: Buffer): { readonly batch: Batch; readonly last: Buffer | undefined } {
    this.rows.resetReadTxn();
    // In this order: a put that lands in between is no loss.
    const keys = this.keysFrom(start, end);
    const rows = this.rowsFrom(start, end);
    const last = earliest(keys.last, rows.last);
    const isBefore = (key: Buffer) => last === undefined || key.compare(last) <= 0;
    const inBatch = rows.some.filter(({ key }) => isBefore(key));
    return { batch: { rows: inBatch, lost: missingIn(inBatch, keys.some.filter(isBefore)) }, last };
  }

  private keysFrom(start: Buffer, end: Buffer): Some<Buffer> {
    const some: Buffer[] = [];
    for (const found of this.keys?.getKeys({ start, end, limit: BATCH, snapshot: false }) ?? []) {
      const key = Buffer.from(found as Buffer);
      this.mustFollow(key, some.at(-1), start, end);
      some.push(key);
    }
    return { some, last: some.length < BATCH ? undefined : some.at(-1) };
  }

  private rowsFrom(start: Buffer, end: Buffer): Some<Row> {
    const some: Row[] = [];
    let bytes = 0;
    for (const row of this.rows.getRange({ start, end, limit: BATCH, snapshot: false })) {
      const key = Buffer.from(row.key as Buffer);
      this.mustFollow(key, some.at(-1)?.key, start, end);
      some.push({ key, value: Buffer.from(row.value) });
      bytes += row.value.length;
      if (bytes >= BATCH_BYTES) break;
    }
    return { some, last: some.length < BATCH && bytes < BATCH_BYTES ? undefined : some.at(-1)?.key };
  }

  /** Without this a damaged key could lead back, and the reading would never end. */
  private mustFollow(key: Buffer, before: Buffer | undefined, start: Buffer, end: Buffer): void {
    const isInOrder =
      key.length === this.keyBytes &&
      key.compare(start) >= 0 &&
      key.compare(end) < 0 &&
      (before === undefined || key.compare(before) > 0);
    if (!isInOrder)
      throw new DamagedArchiveError(`the file ${this.path} of the archive is damaged: keys are out of order`);
  }

  private guarded<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw damageOf(error, this.path);
    }
  }
}

/** A `DamagedArchiveError` in the place of an error by which LMDB tells of damage. */
export function damageOf(error: unknown, path: string): unknown {
  const why = messageOf(error);
  return DAMAGED.test(why) || error instanceof FormatError
    ? new DamagedArchiveError(`the file ${path} of the archive is damaged: ${why}`)
    : error;
}

interface Some<T> {
  readonly some: readonly T[];
  /** Key of the last one; undefined when there are no more. */
  readonly last: Buffer | undefined;
}

function keysOf(name: string): string {
  return `${name}-keys`;
}

function entriesOf(database: Database<Buffer, Buffer>): number {
  return (database.getStats() as { entryCount: number }).entryCount;
}

/** Behind all keys that begin so. */
function behind(prefix: Buffer): Buffer {
  return Buffer.concat([prefix, Buffer.alloc(26, 0xff)]);
}

function earliest(one: Buffer | undefined, other: Buffer | undefined): Buffer | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.compare(other) < 0 ? one : other;
}

/** Both are in order. */
function missingIn(rows: readonly Row[], keys: readonly Buffer[]): Buffer[] {
  let at = 0;
  return keys.filter((key) => {
    while (at < rows.length && (rows[at] as Row).key.compare(key) < 0) at++;
    return !rows[at]?.key.equals(key);
  });
}

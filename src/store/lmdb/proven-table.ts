import { setImmediate as turn } from 'node:timers/promises';
import type { Database, RootDatabase } from 'lmdb';
import { messageOf } from '../../base/message-of.js';
import { DamagedArchiveError } from '../../ports/damaged-archive-error.js';
import { FormatError } from '../format/format-error.js';
import { BINARY } from './environment.js';

/** Number of rows, and approximate bytes, read in one turn of the event loop. */
const BATCH = 500;
const BATCH_BYTES = 1024 ** 2;
const NOTHING = Buffer.alloc(0);
const ZERO = Buffer.alloc(1);

/** LMDB errors that indicate a damaged page. */
const DAMAGED =
  /MDB_(CORRUPTED|PAGE_NOTFOUND|INVALID|VERSION_MISMATCH|PAGE_FULL|CURSOR_FULL|BAD_VALSIZE|BAD_TXN|INCOMPATIBLE)/;

export interface Row {
  readonly key: Buffer;
  readonly value: Buffer;
}

export interface Batch {
  readonly rows: readonly Row[];
  /** Keys whose rows were written but can no longer be found. */
  readonly lost: readonly Buffer[];
}

/**
 * A table that detects lost rows. LMDB's pages have no checksums: one flipped bit in a key, or in a page on the path to
 * it, makes a search find nothing. Each key is therefore stored a second time, in a second tree on different pages. A
 * key that exists only in the second tree belongs to a lost row. A row that exists only in the table is valid: it was
 * written before second trees existed.
 */
export class ProvenTable {
  private readonly rows: Database<Buffer, Buffer>;
  /** The second tree. Undefined in a file of an older walletd until a thread writes to the file. */
  private found: Database<Buffer, Buffer> | undefined;

  /** `keyBytes` is the length of a key. `path` appears in messages. */
  constructor(
    private readonly root: RootDatabase<Buffer, Buffer>,
    private readonly name: string,
    private readonly keyBytes: number,
    private readonly path: string,
  ) {
    this.rows = root.openDB<Buffer, Buffer>({ name, ...BINARY });
  }

  private get keys(): Database<Buffer, Buffer> | undefined {
    // The file stores each table's name as a key, followed by a NUL. Check the key first, because opening a table takes
    // the writers' lock.
    if (this.found === undefined && this.root.doesExist(Buffer.from(`${keysOf(this.name)}\0`))) this.prepare();
    return this.found;
  }

  /** Number of rows. */
  get count(): number {
    return entriesOf(this.rows);
  }

  /** False if an older walletd wrote some of the rows. */
  get isProven(): boolean {
    return this.keys !== undefined && entriesOf(this.keys) >= this.count;
  }

  /** Creates the second tree if it is missing. Call this only after reserving disk space for the tree. */
  prepare(): void {
    this.found ??= this.root.openDB<Buffer, Buffer>({ name: keysOf(this.name), ...BINARY });
  }

  /** Queues the write of a row and its key. */
  put(key: Buffer, value: Buffer): void {
    void this.rows.put(key, value);
    this.prove(key);
  }

  /** Queues the write of a key alone, for a row that an older walletd wrote. */
  prove(key: Buffer): void {
    void this.keys?.put(key, NOTHING);
  }

  /** Queues the removal of rows and their keys. */
  async remove(keys: readonly Buffer[]): Promise<void> {
    await Promise.all(keys.flatMap((key) => [this.rows.remove(key), this.keys?.remove(key)]));
  }

  /** Finds a row. If the row was written but has been lost, throws the error that `lost` creates. */
  find(key: Buffer, lost: () => Error): Buffer | undefined {
    return this.guarded(() => {
      this.rows.resetReadTxn();
      // Read the second tree first, so that a put between the two reads does not look like a lost row.
      const isThere = this.keys?.get(key) !== undefined;
      const value = this.rows.get(key);
      if (value === undefined && isThere) throw lost();
      return value;
    });
  }

  /**
   * All rows with this key prefix, in key order. Rejects with a `DamagedArchiveError` if it cannot continue reading.
   */
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

  /** Reads one batch. `last` is the batch's last key, undefined if no rows follow. */
  private read(start: Buffer, end: Buffer): { readonly batch: Batch; readonly last: Buffer | undefined } {
    this.rows.resetReadTxn();
    // Read the second tree first, so that a put between the two reads does not look like a lost row.
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

  /** Checks the key order. Without this check, a damaged key could lead backwards, and reading would never end. */
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

/** Converts an LMDB error that indicates damage to a `DamagedArchiveError`. */
export function damageOf(error: unknown, path: string): unknown {
  const why = messageOf(error);
  return DAMAGED.test(why) || error instanceof FormatError
    ? new DamagedArchiveError(`the file ${path} of the archive is damaged: ${why}`)
    : error;
}

interface Some<T> {
  readonly some: readonly T[];
  /** The last key of the batch; undefined if no rows follow. */
  readonly last: Buffer | undefined;
}

function keysOf(name: string): string {
  return `${name}-keys`;
}

function entriesOf(database: Database<Buffer, Buffer>): number {
  return (database.getStats() as { entryCount: number }).entryCount;
}

/** The upper bound of all keys with this prefix. */
function behind(prefix: Buffer): Buffer {
  return Buffer.concat([prefix, Buffer.alloc(26, 0xff)]);
}

function earliest(one: Buffer | undefined, other: Buffer | undefined): Buffer | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.compare(other) < 0 ? one : other;
}

/** Keys without a row. Both lists are sorted. */
function missingIn(rows: readonly Row[], keys: readonly Buffer[]): Buffer[] {
  let at = 0;
  return keys.filter((key) => {
    while (at < rows.length && (rows[at] as Row).key.compare(key) < 0) at++;
    return !rows[at]?.key.equals(key);
  });
}

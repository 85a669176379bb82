import { randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { systemClock } from '../../base/clock.js';
import { Slices } from '../../base/slices.js';
import type { ArchivedPlace, ArchiveKey, ArchiveRecord, FreshKeys } from '../../ports/archive.js';
import { DamagedRecordError } from '../../ports/damaged-record-error.js';
import { compareLsn, type Lsn } from '../../ports/lsn.js';
import { encodeFreshKeys, tryOpenFreshKeys } from '../format/archive-keys.js';
import {
  decodeRecord,
  encodeRecord,
  mustIdsIn,
  type Place,
  TAIL_BYTES,
  tailAt,
  writeTail,
} from '../format/archive-record.js';
import { ArchiveFile } from './archive-file.js';
import { type Batch, ProvenTable, type Row } from './proven-table.js';

const MAP_BYTES = 64 * 1024 ** 3;
/** Offset of the key's tail, after the shard and player. */
const TAIL_AT = 6;
const ROUND_KEY_BYTES = TAIL_AT + TAIL_BYTES;
const FRESH_KEY_BYTES = 16;
/**
 * Pause between two writes that add keys for rows of an older walletd. Like an append, each of these writes waits for
 * the disk.
 */
const PROVE_REST_MS = 50;
/**
 * One day of the archive. Each day is a separate LMDB environment in one file, so that deleting the file drops the day.
 *
 *   rounds   shard u16, player u32, round u32, epoch u32, sequence u48, index u16 -> see archive-record.ts
 *   fresh    shard u16, epoch u32, sequence u48, random number u32               -> see archive-keys.ts
 *
 * Integers are big-endian. Each table also stores its keys in a second tree; see proven-table.ts.
 */
export class ArchiveDay {
  private readonly file: ArchiveFile;
  private readonly rounds: ProvenTable;
  private readonly fresh: ProvenTable;
  /** The most recent put. Puts run one after another. */
  private last: Promise<unknown> = Promise.resolve();
  /** Number of puts, lookups and reads in progress. */
  private users = 0;

  constructor(
    readonly day: number,
    private readonly path: string,
    onStuck: (why: string) => void,
  ) {
    this.file = new ArchiveFile(path, { mapSize: MAP_BYTES, maxDbs: 5 }, onStuck);
    const { root } = this.file;
    this.rounds = new ProvenTable(root, 'rounds', ROUND_KEY_BYTES, path);
    this.fresh = new ProvenTable(root, 'fresh', FRESH_KEY_BYTES, path);
  }

  get usedBytes(): number {
    return this.file.usedBytes;
  }

  /** Number of records. */
  get count(): number {
    return this.rounds.count;
  }

  get isInUse(): boolean {
    return this.users > 0;
  }

  async put(records: readonly ArchiveRecord[]): Promise<void> {
    // Encode now instead of when the queued put runs, because the caller has chosen a moment with spare time.
    const encoded = records.map((record) => ({ key: keyOf(record), value: encodeRecord(record) }));
    const fresh = freshOf(records);
    const put = this.last.then(() => this.write(encoded, fresh));
    this.last = put.catch(() => {});
    await this.using(() => put);
  }

  async find(shard: number, names: readonly ArchiveKey[]): Promise<ArchiveRecord[]> {
    return await this.using(() => this.findNames(shard, names));
  }

  private async findNames(shard: number, names: readonly ArchiveKey[]): Promise<ArchiveRecord[]> {
    const found: ArchiveRecord[] = [];
    const idsOf = new Map<number, Set<number>>();
    const slices = new Slices(systemClock, turn);
    for (const { player, kind, hash } of names) {
      if (kind === 'round') {
        for await (const rows of this.batches(prefixOf(shard, player, hash))) {
          for (const row of rows) found.push(this.decode(row));
        }
        await slices.yieldWhenDue();
      } else idsOf.set(player, (idsOf.get(player) ?? new Set()).add(hash));
    }
    for (const [player, ids] of idsOf) {
      for (const record of await this.withIds(shard, player, ids)) found.push(record);
      await slices.yieldWhenDue();
    }
    return found;
  }

  /** Reads all of the player's rounds. This is fast enough, because lookups of ids without a round are rare. */
  private async withIds(shard: number, player: number, ids: ReadonlySet<number>): Promise<ArchiveRecord[]> {
    const found: ArchiveRecord[] = [];
    for await (const rows of this.batches(prefixOf(shard, player))) {
      for (const row of rows) if (this.idsOf(row).some(({ id }) => ids.has(id))) found.push(this.decode(row));
    }
    return found;
  }

  tryRead(place: Place): ArchiveRecord | undefined {
    const key = keyOf(place);
    const value = this.rounds.find(key, () => this.lost(key));
    return value === undefined ? undefined : this.decode({ key, value });
  }

  /** Positions of a player's ids with a version from 1 up to, but not including, `version`. */
  async places(shard: number, player: number, version: number): Promise<ArchivedPlace[]> {
    const places: ArchivedPlace[] = [];
    for await (const rows of this.batches(prefixOf(shard, player))) {
      for (const row of rows) {
        const { round, lsn, index } = placeOf(row.key);
        for (const { id, version: made } of this.idsOf(row)) {
          if (made > 0 && made < version)
            places.push({ id, version: made, record: { day: this.day, round, lsn, index } });
        }
      }
    }
    return places;
  }

  async *all(shard: number): AsyncIterable<readonly ArchiveRecord[]> {
    for await (const rows of this.batches(prefixOf(shard))) yield rows.map((row) => this.decode(row));
  }

  /**
   * Keys of a shard's records. If a record's keys are unreadable, rejects with a `DamagedArchiveError` after the last
   * key.
   */
  async *names(shard: number): AsyncIterable<readonly ArchiveKey[]> {
    let damage: unknown;
    const namesOf = (row: Row): ArchiveKey[] => {
      const name: ArchiveKey = { player: row.key.readUInt32BE(2), kind: 'round', hash: row.key.readUInt32BE(6) };
      try {
        return [name, ...this.idsOf(row).map(({ id }) => ({ ...name, kind: 'transaction' as const, hash: id }))];
      } catch (error) {
        damage ??= error;
        return [name];
      }
    };
    for await (const { rows, lost } of this.reading(this.rounds, prefixOf(shard))) {
      yield rows.flatMap(namesOf);
      for (const key of lost) damage ??= this.lost(key);
    }
    if (damage !== undefined) throw damage;
  }

  async *freshKeys(shard: number): AsyncIterable<FreshKeys | undefined> {
    const slices = new Slices(systemClock, turn);
    for await (const { rows, lost } of this.reading(this.fresh, prefixOf(shard))) {
      if (lost.length > 0) yield undefined;
      for (const { value } of rows) {
        const names = tryOpenFreshKeys(value);
        yield names && { day: this.day, names };
        await slices.yieldWhenDue();
      }
    }
  }

  /** Removes the fresh keys that puts before `lsn` wrote. */
  async dropFresh(shard: number, lsn: Lsn): Promise<void> {
    await this.using(async () => {
      for await (const { rows, lost } of this.fresh.between(prefixOf(shard), freshKey(shard, lsn, 0))) {
        const keys = [...rows.map(({ key }) => key), ...lost];
        await this.file.remove(keys.length, () => this.fresh.remove(keys));
      }
    });
  }

  async dropAfter(shard: number, lsn: Lsn, isAbandoned: (record: ArchiveRecord) => boolean): Promise<void> {
    for await (const records of this.all(shard)) {
      const dropped = records.filter((record) => compareLsn(record.lsn, lsn) > 0 && isAbandoned(record));
      if (dropped.length > 0) await this.file.remove(dropped.length, () => this.rounds.remove(dropped.map(keyOf)));
    }
  }

  /** Adds second-tree keys for rows that an older walletd wrote without them. Damaged rows get no key. */
  async prove(isWanted: () => boolean): Promise<void> {
    if (this.rounds.isProven) return;
    for await (const { rows } of this.reading(this.rounds, NO_PREFIX)) {
      if (!isWanted()) return;
      const keys = rows.filter((row) => this.isWhole(row)).map(({ key }) => key);
      await this.file.makeRoom(keys.length * ROUND_KEY_BYTES, keys.length);
      this.rounds.prepare();
      await this.file.write(keys.length * ROUND_KEY_BYTES, keys.length, () => {
        for (const key of keys) this.rounds.prove(key);
      });
      await delay(PROVE_REST_MS);
    }
  }

  async close(): Promise<void> {
    await this.last;
    await this.file.close();
  }

  /** Closes the day and deletes its file. */
  async drop(): Promise<void> {
    await this.close();
    for (const path of [this.path, `${this.path}-lock`]) rmSync(path, { force: true });
  }

  private async write(encoded: readonly Row[], fresh: readonly Row[]): Promise<void> {
    const bytes = encoded.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
    const places = 2 * encoded.length;
    await this.file.makeRoom(bytes, places);
    this.rounds.prepare();
    this.fresh.prepare();
    await this.file.write(bytes, places, () => {
      for (const { key, value } of encoded) this.rounds.put(key, value);
      for (const { key, value } of fresh) this.fresh.put(key, value);
    });
  }

  private isWhole(row: Row): boolean {
    try {
      this.idsOf(row);
      return true;
    } catch {
      return false;
    }
  }

  /** Throws a `DamagedRecordError` if the row differs from the record that was put. */
  private idsOf({ key, value }: Row) {
    return mustIdsIn({ ...placeOf(key), day: this.day }, value, this.path);
  }

  private decode({ key, value }: Row): ArchiveRecord {
    return decodeRecord({ ...placeOf(key), day: this.day }, value, this.path);
  }

  private lost(key: Buffer): DamagedRecordError {
    return new DamagedRecordError({ ...placeOf(key), day: this.day }, this.path);
  }

  /** Rows of the round table, in batches. Rejects with a `DamagedRecordError` if a row is lost. */
  private async *batches(prefix: Buffer): AsyncIterable<readonly Row[]> {
    for await (const { rows, lost } of this.reading(this.rounds, prefix)) {
      if (lost[0] !== undefined) throw this.lost(lost[0]);
      yield rows;
    }
  }

  /** Keeps the day open until `use` has ended, also while it lets other work run. */
  private async using<T>(use: () => Promise<T>): Promise<T> {
    this.users++;
    try {
      return await use();
    } finally {
      this.users--;
    }
  }

  private async *reading(table: ProvenTable, prefix: Buffer): AsyncIterable<Batch> {
    this.users++;
    try {
      yield* table.range(prefix);
    } finally {
      this.users--;
    }
  }
}

const NO_PREFIX = Buffer.alloc(0);

function prefixOf(shard: number, ...words: number[]): Buffer {
  const prefix = Buffer.allocUnsafe(2 + words.length * 4);
  prefix.writeUInt16BE(shard, 0);
  for (const [i, word] of words.entries()) prefix.writeUInt32BE(word, 2 + i * 4);
  return prefix;
}

function keyOf(place: Place): Buffer {
  const key = Buffer.allocUnsafe(ROUND_KEY_BYTES);
  key.writeUInt16BE(place.shard, 0);
  key.writeUInt32BE(place.player, 2);
  writeTail(place, key, TAIL_AT);
  return key;
}

function placeOf(key: Buffer): Place {
  return { shard: key.readUInt16BE(0), player: key.readUInt32BE(2), ...tailAt(key, TAIL_AT) };
}

/** Keys of one put, grouped by shard. */
function freshOf(records: readonly ArchiveRecord[]): Row[] {
  const byShard = new Map<number, ArchiveRecord[]>();
  for (const record of records) {
    const some = byShard.get(record.shard);
    if (some === undefined) byShard.set(record.shard, [record]);
    else some.push(record);
  }
  return [...byShard].map(([shard, some]) => {
    const { lsn } = some[0] as ArchiveRecord;
    return { key: freshKey(shard, lsn, randomInt(2 ** 32)), value: encodeFreshKeys(some) };
  });
}

function freshKey(shard: number, lsn: Lsn, number: number): Buffer {
  const key = Buffer.allocUnsafe(FRESH_KEY_BYTES);
  key.writeUInt16BE(shard, 0);
  key.writeUInt32BE(lsn.epoch, 2);
  key.writeUIntBE(lsn.sequence, 6, 6);
  key.writeUInt32BE(number, 12);
  return key;
}

import { randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import type { Database } from 'lmdb';
import type { ArchivedId, ArchivedPlace, ArchiveName, ArchiveRecord, FreshNames } from '../../shard/archive/archive.js';
import { compareLsn, type Lsn } from '../../shard/log/lsn.js';
import { maybeOpenFresh, sealFresh } from '../format/archive-names.js';
import {
  decodeRecord,
  encodeRecord,
  maybeIdsIn,
  type Place,
  TAIL_BYTES,
  tailAt,
  writeTail,
} from '../format/archive-record.js';
import { ArchiveFile } from './archive-file.js';
import { BINARY } from './environment.js';

const MAP_BYTES = 64 * 1024 ** 3;
/** Read at once, before others have their turn. */
const BATCH = 500;

interface Encoded {
  readonly key: Buffer;
  readonly value: Buffer;
}

/**
 * What the archive has of one day: an LMDB environment of its own, in one file, so that a day is dropped as a file is.
 *
 *   rounds   shard u16, player u32, round u32, epoch u32, sequence u48, index u16 -> see archive-record.ts
 *   fresh    shard u16, epoch u32, sequence u48, a number of its own u32          -> see archive-names.ts
 *
 * Integers are big-endian.
 */
export class ArchiveDay {
  private readonly file: ArchiveFile;
  private readonly rounds: Database<Buffer, Buffer>;
  private readonly fresh: Database<Buffer, Buffer>;
  /** Its puts go one after the other. */
  private last: Promise<unknown> = Promise.resolve();
  /** Puts and readings that have begun and not ended. */
  private users = 0;

  constructor(
    readonly day: number,
    private readonly path: string,
    onStuck: (why: string) => void,
  ) {
    this.file = new ArchiveFile(path, { mapSize: MAP_BYTES, maxDbs: 3 }, onStuck);
    this.rounds = this.file.root.openDB<Buffer, Buffer>({ name: 'rounds', ...BINARY });
    this.fresh = this.file.root.openDB<Buffer, Buffer>({ name: 'fresh', ...BINARY });
  }

  get usedBytes(): number {
    return this.file.usedBytes;
  }

  /** How many records it has. */
  get count(): number {
    return (this.rounds.getStats() as { entryCount: number }).entryCount;
  }

  get isInUse(): boolean {
    return this.users > 0;
  }

  async put(records: readonly ArchiveRecord[]): Promise<void> {
    this.users++;
    // In the turn in which it is asked for: whoever asks has chosen the moment.
    const encoded = records.map((record) => ({ key: keyOf(record), value: encodeRecord(record) }));
    const fresh = freshOf(records);
    const put = this.last.then(() => this.write(encoded, fresh));
    this.last = put.catch(() => {});
    try {
      await put;
    } finally {
      this.users--;
    }
  }

  async find(shard: number, names: readonly ArchiveName[]): Promise<ArchiveRecord[]> {
    const found: ArchiveRecord[] = [];
    const idsOf = new Map<number, Set<number>>();
    for (const { player, kind, hash } of names) {
      if (kind === 'round') found.push(...this.ofRound(shard, player, hash));
      else idsOf.set(player, (idsOf.get(player) ?? new Set()).add(hash));
    }
    for (const [player, ids] of idsOf) found.push(...(await this.withIds(shard, player, ids)));
    return found;
  }

  private ofRound(shard: number, player: number, round: number): ArchiveRecord[] {
    const prefix = prefixOf(shard, player, round);
    const entries = this.rounds.getRange({ start: prefix, end: behind(prefix) });
    return Array.from(entries, ({ key, value }) => this.decode(Buffer.from(key as Buffer), value));
  }

  /** All rounds of the player are gone through: an id whose round is not named is rare. */
  private async withIds(shard: number, player: number, ids: ReadonlySet<number>): Promise<ArchiveRecord[]> {
    const found: ArchiveRecord[] = [];
    for await (const entries of this.batches(this.rounds, prefixOf(shard, player))) {
      for (const { key, value } of entries) {
        if (this.idsOf(key, value).some(({ id }) => ids.has(id))) found.push(this.decode(key, value));
      }
    }
    return found;
  }

  maybeRead(place: Place): ArchiveRecord | undefined {
    const key = keyOf(place);
    const value = this.rounds.get(key);
    return value === undefined ? undefined : this.decode(key, value);
  }

  /** Of the ids of a player: those of versions from 1 on and below `version`. */
  async places(shard: number, player: number, version: number): Promise<ArchivedPlace[]> {
    const places: ArchivedPlace[] = [];
    const prefix = prefixOf(shard, player);
    for await (const entries of this.batches(this.rounds, prefix)) {
      for (const { key, value } of entries) {
        const { round, lsn, index } = placeOf(key);
        for (const { id, version: made } of this.idsOf(key, value)) {
          if (made > 0 && made < version)
            places.push({ id, version: made, record: { day: this.day, round, lsn, index } });
        }
      }
    }
    return places;
  }

  async *all(shard: number): AsyncIterable<readonly ArchiveRecord[]> {
    for await (const entries of this.batches(this.rounds, prefixOf(shard))) {
      yield entries.map(({ key, value }) => this.decode(key, value));
    }
  }

  async *names(shard: number): AsyncIterable<readonly ArchiveName[]> {
    for await (const entries of this.batches(this.rounds, prefixOf(shard))) {
      yield entries.flatMap(({ key, value }) => {
        const player = key.readUInt32BE(2);
        const ids = (maybeIdsIn(value) ?? []).map(({ id }): ArchiveName => ({ player, kind: 'transaction', hash: id }));
        return [{ player, kind: 'round', hash: key.readUInt32BE(6) } as const, ...ids];
      });
    }
  }

  async *freshNames(shard: number): AsyncIterable<FreshNames | undefined> {
    for await (const entries of this.batches(this.fresh, prefixOf(shard))) {
      for (const { value } of entries) {
        const names = maybeOpenFresh(value);
        yield names && { day: this.day, names };
      }
    }
  }

  /** What was put before `lsn` is fresh no more. */
  async dropFresh(shard: number, lsn: Lsn): Promise<void> {
    const end = freshKey(shard, lsn, 0);
    const keys = Array.from(this.fresh.getKeys({ start: prefixOf(shard), end }), (key) => Buffer.from(key as Buffer));
    if (keys.length === 0) return;
    await this.file.remove(keys.length, () => Promise.all(keys.map((key) => this.fresh.remove(key))));
  }

  async dropAfter(shard: number, lsn: Lsn): Promise<void> {
    for await (const records of this.all(shard)) {
      const dropped = records.filter((record) => compareLsn(record.lsn, lsn) > 0);
      if (dropped.length === 0) continue;
      await this.file.remove(dropped.length, () =>
        Promise.all(dropped.map((record) => this.rounds.remove(keyOf(record)))),
      );
    }
  }

  async close(): Promise<void> {
    await this.last;
    await this.file.close();
  }

  /** Closes it, and removes its file. */
  async drop(): Promise<void> {
    await this.close();
    for (const path of [this.path, `${this.path}-lock`]) rmSync(path, { force: true });
  }

  private async write(encoded: readonly Encoded[], fresh: readonly Encoded[]): Promise<void> {
    const bytes = encoded.reduce((sum, { value }) => sum + value.length, 0);
    await this.file.write(bytes, encoded.length, () => {
      for (const { key, value } of encoded) void this.rounds.put(key, value);
      for (const { key, value } of fresh) void this.fresh.put(key, value);
    });
  }

  /** Throws a `DamagedRecordError` when not all are there. */
  private idsOf(key: Buffer, value: Buffer): readonly ArchivedId[] {
    return maybeIdsIn(value) ?? this.decode(key, value).ids;
  }

  private decode(key: Buffer, value: Buffer): ArchiveRecord {
    return decodeRecord({ ...placeOf(key), day: this.day }, value, this.path);
  }

  private async *batches(database: Database<Buffer, Buffer>, prefix: Buffer): AsyncIterable<Encoded[]> {
    let start = prefix;
    const end = behind(prefix);
    this.users++;
    try {
      for (;;) {
        database.resetReadTxn();
        const entries = Array.from(
          database.getRange({ start, end, limit: BATCH, snapshot: false }),
          ({ key, value }) => ({
            key: Buffer.from(key as Buffer),
            value: Buffer.from(value),
          }),
        );
        if (entries.length > 0) yield entries;
        const last = entries.at(-1);
        if (last === undefined || entries.length < BATCH) return;
        start = Buffer.concat([last.key, ZERO]);
        await turn();
      }
    } finally {
      this.users--;
    }
  }
}

const ZERO = Buffer.alloc(1);
/** Behind shard and player. */
const TAIL_AT = 6;

function prefixOf(shard: number, ...words: number[]): Buffer {
  const prefix = Buffer.allocUnsafe(2 + words.length * 4);
  prefix.writeUInt16BE(shard, 0);
  for (const [i, word] of words.entries()) prefix.writeUInt32BE(word, 2 + i * 4);
  return prefix;
}

/** Behind all keys that begin so. */
function behind(prefix: Buffer): Buffer {
  return Buffer.concat([prefix, Buffer.alloc(26, 0xff)]);
}

function keyOf(place: Place): Buffer {
  const key = Buffer.allocUnsafe(TAIL_AT + TAIL_BYTES);
  key.writeUInt16BE(place.shard, 0);
  key.writeUInt32BE(place.player, 2);
  writeTail(place, key, TAIL_AT);
  return key;
}

function placeOf(key: Buffer): Place {
  return { shard: key.readUInt16BE(0), player: key.readUInt32BE(2), ...tailAt(key, TAIL_AT) };
}

/** The names of records that were put together, by shard. */
function freshOf(records: readonly ArchiveRecord[]): Encoded[] {
  const byShard = new Map<number, ArchiveRecord[]>();
  for (const record of records) {
    const some = byShard.get(record.shard);
    if (some === undefined) byShard.set(record.shard, [record]);
    else some.push(record);
  }
  return [...byShard].map(([shard, some]) => {
    const { lsn } = some[0] as ArchiveRecord;
    return { key: freshKey(shard, lsn, randomInt(2 ** 32)), value: sealFresh(some) };
  });
}

function freshKey(shard: number, lsn: Lsn, number: number): Buffer {
  const key = Buffer.allocUnsafe(16);
  key.writeUInt16BE(shard, 0);
  key.writeUInt32BE(lsn.epoch, 2);
  key.writeUIntBE(lsn.sequence, 6, 6);
  key.writeUInt32BE(number, 12);
  return key;
}

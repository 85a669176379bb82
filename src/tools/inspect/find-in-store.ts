import { nameOfRound } from '../../archive/archive-hash.js';
import type { OnProgress } from '../../base/progress.js';
import { ALL_DAYS, type Archive, type ArchiveRecord, compareAge } from '../../ports/archive.js';
import type { Lsn } from '../../ports/lsn.js';
import type { Entry } from '../../ports/wal.js';
import type { Event } from '../../wallet/event.js';
import { hitsIn, type IdHit, writtenBytes } from '../../wallet/queries/find-id.js';
import { addSerializedRound, nameOfSerialized } from '../../wallet/state/serialized-round.js';
import { Tables } from '../../wallet/state/tables.js';
import { Wallet } from '../../wallet/state/wallet.js';
import { logLength } from '../log-length.js';
import { type StoreReader, shardsOf } from '../store-reader.js';
import { type HistoryItem, isOperation, itemsOf } from './history-item.js';
import { readDamagedLog } from './read-damaged-log.js';

/*
 * Searches a store for an id whose player is unknown, or for the events of a player. Results come in reading order.
 * `notes` receives sentences about gaps in the data. A search reads the complete store and keeps nothing in memory.
 */

/** A hit and its place in the store. */
export interface StoredHit extends IdHit {
  readonly shard: number;
  /** The log entry that contains the hit; undefined if the hit is in the archive. */
  readonly lsn: Lsn | undefined;
}

/** Searches all logs, one shard after another, each from its oldest entry. */
export async function* findInLog(
  reader: StoreReader,
  id: string,
  notes: string[],
  onProgress: OnProgress,
): AsyncGenerator<StoredHit> {
  for await (const entry of entriesOf(shardsOf(reader), reader, notes, onProgress)) yield* hitsInEntry(entry, id);
}

/** A player's event and the entry that contains it. */
export interface LoggedEvent {
  readonly event: Event;
  readonly entry: Entry;
}

/** All events of a player since this version, oldest first. */
export async function* eventsOf(
  reader: StoreReader,
  username: string,
  fromVersion: number,
  notes: string[],
  onProgress: OnProgress,
): AsyncGenerator<LoggedEvent> {
  for await (const entry of entriesOf([reader.shardOf(username)], reader, notes, onProgress)) {
    for (const event of entry.events) {
      if (event.username === username && event.version >= fromVersion) yield { event, entry };
    }
  }
}

async function* entriesOf(
  shards: readonly number[],
  reader: StoreReader,
  notes: string[],
  onProgress: OnProgress,
): AsyncGenerator<Entry> {
  let total = 0;
  for (const shard of shards) total += await logLength(shard, reader);
  let done = 0;
  let beginsMs: number | undefined;
  for (const shard of shards) {
    let isFirst = true;
    for await (const entry of readDamagedLog(shard, reader, notes)) {
      if (isFirst && entry.previousLsn.sequence > 0) beginsMs = Math.max(beginsMs ?? 0, entry.timeMs);
      isFirst = false;
      onProgress(Math.min(++done, total), total);
      yield entry;
    }
  }
  if (beginsMs !== undefined) {
    notes.push(`the log has been trimmed: events before ${new Date(beginsMs).toISOString()} are incomplete`);
  }
}

function* hitsInEntry({ shard, lsn, events }: Entry, id: string): Generator<StoredHit> {
  for (const [index, event] of events.entries()) {
    for (const item of itemsOf(event, { shard, lsn, index }, () => undefined)) {
      for (const kind of kindsOf(item, id)) {
        const { username, type: what, productId, roundId, timeMs } = item;
        yield { username, kind, what, productId, roundId, id: item.id, state: undefined, timeMs, shard, lsn };
      }
    }
  }
}

/**
 * Returns the kinds of objects to which the id refers in an item. There can be several kinds if a platform reuses an
 * id.
 */
function kindsOf(item: HistoryItem, id: string): IdHit['kind'][] {
  const kinds: IdHit['kind'][] = [];
  const isOther = item.others.includes(id);
  // For rounds that leave memory or return to it, `others` contains the ids of the rounds.
  const isRound = item.roundId === id || (isOther && item.productId === undefined);
  if (item.id === id || (isOther && !isRound)) kinds.push(isOperation(item) ? 'operation' : 'transaction');
  if (isRound) kinds.push('round');
  if (item.requestId === id) kinds.push('request');
  return kinds;
}

/** Searches the complete archive, newest day first. */
export async function* findInArchive(
  { archive, shards, yieldTurn }: StoreReader,
  id: string,
  notes: string[],
  onProgress: OnProgress,
): AsyncGenerator<StoredHit> {
  if (archive === undefined) {
    notes.push('this store has no archive: all rounds are in memory');
    return;
  }
  const written = writtenBytes(id);
  const days = [...(await archive.days())].reverse();
  const met = new Set<string>();
  for (const [i, day] of days.entries()) {
    for (let shard = 0; shard < shards; shard++) {
      for await (const records of archive.all(shard, day)) {
        for (const { image } of records) {
          if (!image.includes(written)) continue;
          const key = keyOfRound(image);
          if (met.has(key)) continue;
          met.add(key);
          const newest = await findNewestRecord(archive, shard, image);
          if (newest !== undefined) yield* hitsInImage(newest.image, shard, id);
        }
        await yieldTurn();
      }
      onProgress(i * shards + shard + 1, days.length * shards);
    }
  }
}

/**
 * Finds the newest record of a round, which may have returned to memory and left again; undefined if its day was
 * dropped in the meantime.
 */
async function findNewestRecord(
  archive: Pick<Archive, 'find'>,
  shard: number,
  image: Buffer,
): Promise<ArchiveRecord | undefined> {
  const { username, productId, roundId } = nameOfSerialized(image);
  const key = keyOfRound(image);
  const named = await archive.find(shard, [nameOfRound(username, productId, roundId)], ALL_DAYS);
  return named
    .filter((record) => keyOfRound(record.image) === key)
    .sort(compareAge)
    .at(-1);
}

function keyOfRound(image: Buffer): string {
  return JSON.stringify(nameOfSerialized(image));
}

let tables: Tables | undefined;

function* hitsInImage(image: Buffer, shard: number, id: string): Generator<StoredHit> {
  tables ??= new Tables();
  const copy = Wallet.begin(tables.copyToWorkOn(), 'XXX', nameOfSerialized(image).username);
  addSerializedRound(copy, image);
  for (const hit of hitsIn(copy, id)) yield { ...hit, shard, lsn: undefined };
}

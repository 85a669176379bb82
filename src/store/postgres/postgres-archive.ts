import type { ClientBase, DatabaseError } from 'pg';
import {
  ARCHIVE_VERSION,
  type Archive,
  type ArchivedPlace,
  type ArchiveKey,
  type ArchiveRecord,
  type Days,
  FIRST_ARCHIVE_VERSION,
  type FreshKeys,
  newestMarks,
} from '../../ports/archive.js';
import { mustReach } from '../../ports/archive-behind-error.js';
import { DamagedRecordError } from '../../ports/damaged-record-error.js';
import { mustKeep } from '../../ports/dropped-day-error.js';
import type { Lsn } from '../../ports/lsn.js';
import type { ArchiveMark } from '../../wallet/archive-mark.js';
import { type ArchiveTie, mustBeTied } from '../archive-tie.js';
import { encodeFreshKeys, encodeKeys, tryOpenFreshKeys, tryOpenKeys } from '../format/archive-keys.js';
import {
  checkArchiveVersion,
  type DatedPlace,
  decodeRecord,
  encodedLength,
  mustIdsIn,
  tryIdsIn,
  writeRecord,
} from '../format/archive-record.js';
import { FormatError } from '../format/format-error.js';
import type { CheckResult } from '../store.js';
import { createTables, FIRST_DAY, findArchiveId, makeArchiveId, PARTITION, ROUNDS } from './archive-tables.js';
import { byteaArray, int4Array, int8Array } from './binary-array.js';
import { Connections, type ConnectionsOptions } from './connections.js';
import { contentsOf, type Occupancy, occupancyOf, replicasOf, rightsOf } from './examine-archive.js';
import { Partitions } from './partitions.js';
import { parsePostgresAddress } from './postgres-address.js';
import { judgeServer } from './server-check.js';

/** PostgreSQL error code for a key that already exists. */
const UNIQUE_VIOLATION = '23505';
/** Number of rows read per query. */
const BATCH = 1000;

/** A row of walletd_rounds. The driver returns bigint values as text. */
interface Row {
  readonly day: number;
  readonly player: string;
  readonly round: string;
  readonly epoch: string;
  readonly sequence: string;
  readonly index: number;
  readonly record?: Buffer;
}

/** The archive mark of a shard; null if the shard has none. */
interface MarkRow {
  readonly mark_epoch: string | null;
  readonly mark_sequence: string | null;
  readonly mark_index: number | null;
}

/** A mark, and the oldest day that is kept; null if no day has been dropped. */
type StateRow = MarkRow & { readonly first_day: number | null };

/** A row of a lookup. If no round was found, all columns except those of the state are null. */
type FoundRow = Row & StateRow & { readonly record: Buffer | null };

/** The archive in PostgreSQL (version 12 or later), in a table with one partition per day. Connects on demand. */
export class PostgresArchive implements Archive {
  private readonly connections: Connections;
  private readonly partitions: Partitions;
  private prepared: Promise<void> | undefined = undefined;
  /** True if the tables do not exist and this archive does not create any. */
  private isEmpty = false;
  /** The version in the table. If another process has raised it, this one may be lower. */
  private version = FIRST_ARCHIVE_VERSION;
  /** The human-readable name. */
  private readonly name: string;

  /**
   * Throws an `AddressError` if the address cannot work. Without a tie, accepts any archive of the store, whatever its
   * id.
   */
  constructor(
    address: string,
    private readonly storeId: string,
    private readonly options: ConnectionsOptions = { trustConfig: false, isReadOnly: false },
    private readonly tie?: ArchiveTie,
  ) {
    const parsed = parsePostgresAddress(address);
    this.name = parsed.name;
    this.connections = new Connections(parsed, options);
    this.partitions = new Partitions(this.connections);
  }

  async put(records: readonly ArchiveRecord[], required?: ArchiveMark): Promise<void> {
    const [first] = records;
    if (first === undefined) return;
    // Encode before the first wait, because the caller has chosen a moment with spare time.
    const values = [
      ...[...placesOf(records), encoded(records), ...freshOf(records), ...marksOf(newestMarks(records))],
      ...[first.shard, required?.epoch, required?.sequence, required?.index],
      Math.min(...records.map(({ day }) => day)),
    ];
    await this.prepare();
    if (this.version < ARCHIVE_VERSION && records.some(({ remembers }) => remembers)) {
      await this.ask('raise', 'UPDATE walletd_archive SET version = $1 WHERE version < $1', [ARCHIVE_VERSION]);
      this.version = ARCHIVE_VERSION;
    }
    await this.partitions.ensure(new Set(records.map(({ day }) => day)));
    const rows = await this.ask<StateRow>('put', PUT, values).catch((error: DatabaseError) => {
      if (error.code === UNIQUE_VIOLATION) return this.ask<StateRow>('put again', PUT_AGAIN, values);
      // The error may mean that another process has dropped the partition of an old day.
      this.partitions.forget();
      throw error;
    });
    const [row] = rows;
    // If the statement put nothing, one of these two calls throws, because they check the same mark and first day as
    // the statement.
    mustReach(first.shard, row && findMark(row), required);
    mustKeep(records, row?.first_day ?? 0);
  }

  async mark(shard: number): Promise<ArchiveMark | undefined> {
    const [row] = await this.ask<MarkRow>('mark', MARK, [shard]);
    return row && findMark(row);
  }

  async raiseMark(shard: number, mark: ArchiveMark): Promise<void> {
    await this.acceptLoss(new Map([[shard, mark]]));
  }

  async missingDays(): Promise<readonly []> {
    return [];
  }

  async acceptLoss(marks: ReadonlyMap<number, ArchiveMark>): Promise<void> {
    await this.ask('raise mark', RAISE, marksOf(marks));
  }

  async find(
    shard: number,
    names: readonly ArchiveKey[],
    days: Days,
    required?: ArchiveMark,
  ): Promise<readonly ArchiveRecord[]> {
    const rounds = names.filter(({ kind }) => kind === 'round');
    const ids = names.filter(({ kind }) => kind === 'transaction');
    const range = [shard, days.first, Math.min(days.last, 2 ** 31 - 1)];
    const rows = await this.ask<FoundRow>('find', FIND, [
      ...range,
      rounds.map(({ player }) => player),
      rounds.map(({ hash }) => hash),
      ids.map(({ player }) => player),
      ids.map(({ hash }) => bytesOf(hash)),
    ]);
    // Each row contains the shard's mark. If no round was found, there is one row with only the mark.
    const [first] = rows;
    mustReach(shard, first === undefined ? undefined : findMark(first), required);
    const firstDay = first?.first_day ?? 0;
    const isFound = ({ record, day }: FoundRow) => record !== null && day >= firstDay;
    const found = new Map(rows.flatMap((row) => (isFound(row) ? [[nameOf(row), row]] : [])));
    return [...found.values()].map((row) => recordOf(shard, row));
  }

  async list(shard: number, player: number, version: number, limit: number): Promise<readonly ArchivedPlace[]> {
    const rows = await this.ask<Row>('list', LIST, [shard, player]);
    const places = rows.flatMap((row) => {
      const { day, round, lsn, index } = placeOf(shard, row);
      const all = tryIdsIn(row.record as Buffer) ?? recordOf(shard, row).ids;
      const ids = all.filter((id) => id.version > 0 && id.version < version);
      return ids.map((id) => ({ ...id, record: { day, round, lsn, index } }));
    });
    places.sort((a, b) => b.version - a.version);
    const last = places[limit - 1]?.version ?? 0;
    return places.filter((place) => place.version >= last);
  }

  async read(
    shard: number,
    records: readonly ArchivedPlace['record'][],
    player: number,
  ): Promise<readonly ArchiveRecord[]> {
    const places = records.map((record) => ({ ...record, shard, player }));
    const rows = await this.ask<Row & { n: string }>('read', READ, placesOf(places));
    return rows.map((row) => recordOf(shard, row));
  }

  async serverMs(): Promise<number> {
    const [row] = await this.ask<{ ms: string }>(
      'now',
      'SELECT floor(extract(epoch FROM now()) * 1000)::bigint AS ms',
      [],
    );
    return Number(row?.ms);
  }

  async days(): Promise<readonly number[]> {
    const rows = await this.ask<{ day: number }>('days', DAYS, []);
    return rows.map(({ day }) => day);
  }

  async *all(shard: number, day: number): AsyncIterable<readonly ArchiveRecord[]> {
    for await (const rows of this.rows(shard, day)) yield rows.map((row) => recordOf(shard, row));
  }

  /**
   * Keys of a shard's records. If a record's keys are unreadable, rejects with a `DamagedRecordError` after the last
   * key.
   */
  async *names(shard: number, day: number): AsyncIterable<readonly ArchiveKey[]> {
    let damage: unknown;
    const namesOf = (row: Row): ArchiveKey[] => {
      const place = placeOf(shard, row);
      const name: ArchiveKey = { player: place.player, kind: 'round', hash: place.round };
      try {
        const ids = mustIdsIn(place, row.record as Buffer, tableOf(place));
        return [name, ...ids.map(({ id }) => ({ ...name, kind: 'transaction' as const, hash: id }))];
      } catch (error) {
        damage ??= error;
        return [name];
      }
    };
    for await (const rows of this.rows(shard, day)) yield rows.flatMap(namesOf);
    if (damage !== undefined) throw damage;
  }

  async *freshKeys(shard: number): AsyncIterable<FreshKeys | undefined> {
    const rows = await this.ask<{ day: number; names: Buffer }>('fresh', FRESH, [shard]);
    for (const { day, names } of rows) {
      const opened = tryOpenFreshKeys(names);
      yield opened && { day, names: opened };
    }
  }

  async savedKeys(shard: number): Promise<ReadonlyMap<number, Buffer | undefined>> {
    const rows = await this.ask<{ part: string; names: Buffer }>('saved', SAVED, [shard]);
    return new Map(rows.map(({ part, names }) => [Number(part), tryOpenKeys(names)]));
  }

  async saveKeys(shard: number, parts: ReadonlyMap<number, Buffer | undefined>, lsn: Lsn): Promise<void> {
    await this.prepare();
    await this.connections.inTransaction(async (client) => {
      // A former owner that was paused knows fewer keys than the current owner and must not overwrite its keys. The
      // fresh keys of the newest put are never dropped, so this query finds the current owner's epoch.
      await client.query('SELECT pg_advisory_xact_lock($1, $2)', [NAMES_LOCK, shard]);
      const { rows } = await client.query(LATER, [shard, lsn.epoch]);
      if (rows.length > 0) throw new Error('another node has the shard, and saves the key filters of its archive');
      for (const [number, part] of parts) {
        if (part === undefined)
          await client.query('DELETE FROM walletd_saved WHERE shard = $1 AND part = $2', [shard, number]);
        else await client.query(SAVE, [shard, number, encodeKeys(part)]);
      }
      await client.query(DROP_FRESH, [shard, lsn.epoch, lsn.sequence]);
    });
  }

  async dropBefore(day: number): Promise<void> {
    await this.prepare();
    await this.partitions.dropBefore(day);
  }

  async dropAfter(shard: number, lsn: Lsn, isAbandoned: (record: ArchiveRecord) => boolean): Promise<void> {
    for (const day of await this.days()) {
      for await (const rows of this.rows(shard, day, lsn)) {
        const dropped = rows.flatMap((row) => tryRecord(shard, row) ?? []).filter(isAbandoned);
        if (dropped.length > 0) await this.ask('drop', DROP, placesOf(dropped));
      }
    }
  }

  async room(): Promise<{ readonly usedBytes: number }> {
    const [row] = await this.ask<{ bytes: string | null }>('room', ROOM, []);
    return { usedBytes: Number(row?.bytes ?? 0) };
  }

  async close(): Promise<void> {
    await this.partitions.close();
    await this.connections.close();
  }

  /**
   * Checks the server, the user's rights and the archive's contents. Creates nothing, and works before any other call.
   */
  async examine(): Promise<readonly CheckResult[]> {
    return await this.connections.alone(async ({ client, server }) => {
      const judged = judgeServer(server, this.options.trustConfig);
      const findings = [...judged, await replicasOf(client), await rightsOf(client)];
      if (findings.some(({ verdict }) => verdict === 'bad')) return findings;
      return [...findings, await contentsOf(client, () => this.check(client))];
    });
  }

  /**
   * Throws a `FormatError` if the archive belongs to another store, or is not the archive that the tie names. Uses a
   * new connection, because the server at the address may have been replaced. A backup follower calls this after each
   * reconnect.
   */
  async checkIdentity(): Promise<void> {
    await this.connections.alone(({ client }) => this.check(client));
  }

  /** Creates the archive if there is none, ties it to the store, and resolves with its id. */
  async identify(): Promise<string | undefined> {
    await this.prepare();
    return await this.findId();
  }

  /** The id of the archive; undefined if the archive has no id, or does not exist. */
  async findId(): Promise<string | undefined> {
    return await this.connections.inTransaction(findArchiveId);
  }

  /** Gives the archive a new id, so that it counts as a different archive. Resolves with the id. */
  async renew(): Promise<string> {
    return await this.connections.inTransaction(async (client) => {
      await createTables(client, FIRST_ARCHIVE_VERSION, this.storeId);
      await this.mustBeOurs(client);
      return await makeArchiveId(client, true);
    });
  }

  /**
   * Checks whether the database is free for a new store. Unlike the other methods, creates nothing and accepts the
   * archive of any store.
   */
  async occupancy(): Promise<Occupancy> {
    return await this.connections.alone(({ client }) => occupancyOf(client));
  }

  /** The shard's rows of one day; only those after the position `lsn`, if it is given. */
  private async *rows(shard: number, day: number, lsn: Lsn = BEFORE_ALL): AsyncIterable<readonly Row[]> {
    let after: readonly unknown[] = [-1, -1, -1, -1, -1];
    for (;;) {
      const rows = await this.ask<Row>('all', ALL, [shard, day, BATCH, ...after, lsn.epoch, lsn.sequence]);
      if (rows.length > 0) yield rows;
      const last = rows.at(-1);
      if (last === undefined || rows.length < BATCH) return;
      after = [last.player, last.round, last.epoch, last.sequence, last.index];
    }
  }

  private async ask<R>(name: string, sql: string, values: readonly unknown[]): Promise<R[]> {
    await this.prepare();
    if (this.isEmpty) return [];
    return await this.connections.ask<R>(name, sql, values);
  }

  /**
   * Creates missing tables and checks which store they belong to, once. A read-only archive creates no tables: it
   * treats a database without tables as empty, and checks it again the next time.
   */
  private prepare(): Promise<void> {
    this.prepared ??= this.prepareOnce().catch((error: Error) => {
      this.prepared = undefined;
      throw error;
    });
    return this.prepared;
  }

  /** Does not change an archive that the tie does not name. */
  private async prepareOnce(): Promise<void> {
    const { tie, name } = this;
    const found = await this.connections.inTransaction(async (client) => {
      await this.check(client);
      this.isEmpty = this.options.isReadOnly && !(await hasTables(client));
      if (this.isEmpty) {
        this.prepared = undefined;
        return undefined;
      }
      await createTables(client, FIRST_ARCHIVE_VERSION, this.storeId);
      await this.mustBeOurs(client);
      return this.options.isReadOnly ? await findArchiveId(client) : await makeArchiveId(client);
    });
    if (found === undefined || tie?.write === undefined || tie.archiveId !== undefined) return;
    mustBeTied({ ...tie, archiveId: await tie.write(found) }, found, name);
  }

  private async check(client: ClientBase): Promise<void> {
    if (await hasTables(client)) await this.mustBeOurs(client);
    if (this.tie !== undefined) mustBeTied(this.tie, await findArchiveId(client), this.name);
  }

  /** Throws a `FormatError` if the tables belong to another store or to a newer walletd. */
  private async mustBeOurs(client: ClientBase): Promise<void> {
    const { rows } = await client.query('SELECT version, store_id FROM walletd_archive');
    const [about] = rows as { version: number; store_id: string }[];
    if (about === undefined) throw new FormatError('the archive does not name its store');
    checkArchiveVersion(about.version);
    this.version = about.version;
    if (about.store_id !== this.storeId) {
      throw new FormatError(`the archive in PostgreSQL belongs to a different store: ${about.store_id}`);
    }
  }
}

async function hasTables(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query("SELECT 1 WHERE to_regclass('walletd_archive') IS NOT NULL");
  return rows.length > 0;
}

const PLACE = 'day, shard, player, round, epoch, sequence, index';
const PLACE_TYPES = ['int', 'int', 'bigint', 'bigint', 'bigint', 'bigint', 'int'];
const COLUMNS = 'r.day, r.player, r.round, r.epoch, r.sequence, r.index, r.record';

function unnest(first: number, types: readonly string[]): string {
  return `unnest(${types.map((type, i) => `$${first + i}::${type}[]`).join(', ')})`;
}

/** SQL that raises one mark per shard if the new mark is newer. `condition` decides whether any mark is raised. */
function raise(first: number, condition = ''): string {
  return `
  INSERT INTO walletd_marks AS m (shard, epoch, sequence, index)
  SELECT * FROM ${unnest(first, ['int', 'bigint', 'bigint', 'int'])} ${condition}
  ON CONFLICT (shard) DO UPDATE SET epoch = excluded.epoch, sequence = excluded.sequence, index = excluded.index
  WHERE (m.epoch, m.sequence, m.index) < (excluded.epoch, excluded.sequence, excluded.index)`;
}

const RAISE = raise(1);
const MARK =
  'SELECT epoch AS mark_epoch, sequence AS mark_sequence, index AS mark_index FROM walletd_marks WHERE shard = $1';

/**
 * The usual put has no conflict clause, because conflicts occur only after an outage and the clause adds a third to the
 * cost.
 */
const PUT = put('');
const PUT_AGAIN = put('ON CONFLICT DO NOTHING');

/** May also match a record in which the bytes of an id's hash occur by chance, so the caller compares the ids. */
const FIND = `
  SELECT mark.*, (${FIRST_DAY}) AS first_day, found.* FROM (SELECT) AS always
  LEFT JOIN (${MARK}) AS mark ON true
  LEFT JOIN (
  SELECT ${COLUMNS} FROM ${unnest(4, ['bigint', 'bigint'])} AS n(player, round)
  JOIN ${ROUNDS} r ON r.player = n.player AND r.round = n.round
  WHERE r.shard = $1 AND r.day BETWEEN $2 AND $3
  UNION ALL
  SELECT ${COLUMNS} FROM ${unnest(6, ['bigint', 'bytea'])} AS n(player, id)
  JOIN ${ROUNDS} r ON r.player = n.player AND position(n.id IN r.record) > 0
  WHERE r.shard = $1 AND r.day BETWEEN $2 AND $3
  ) AS found ON true`;

/** Reads only the part of each record that contains its ids. */
const LIST = `
  SELECT day, player, round, epoch, sequence, index,
    substring(record FROM 1 FOR 6 + 8 * (256 * get_byte(record, 4) + get_byte(record, 5))) AS record
  FROM ${ROUNDS} WHERE shard = $1 AND player = $2 AND ${isKept('day')}`;

const READ = `
  SELECT ${COLUMNS}, n.n FROM ${unnest(1, PLACE_TYPES)} WITH ORDINALITY AS n(${PLACE}, n)
  JOIN ${ROUNDS} r ON (r.day, r.shard, r.player, r.round, r.epoch, r.sequence, r.index)
    = (n.day, n.shard, n.player, n.round, n.epoch, n.sequence, n.index)
  WHERE ${isKept('r.day')}
  ORDER BY n.n`;

const ALL = `
  SELECT ${COLUMNS} FROM ${ROUNDS} r
  WHERE r.shard = $1 AND r.day = $2
    AND (r.player, r.round, r.epoch, r.sequence, r.index) > ($4::bigint, $5::bigint, $6::bigint, $7::bigint, $8::int)
    AND (r.epoch, r.sequence) > ($9::bigint, $10::bigint)
  ORDER BY r.player, r.round, r.epoch, r.sequence, r.index LIMIT $3`;
/** All records are after this position. */
const BEFORE_ALL: Lsn = { epoch: -1, sequence: -1 };

/** Days with a record. LIMIT prevents a join that would read all records. */
const DAYS = `
  SELECT d.day FROM (
    SELECT substring(c.relname FROM '[0-9]+$')::int AS day FROM pg_inherits h JOIN pg_class c ON c.oid = h.inhrelid
    WHERE h.inhparent = '${ROUNDS}'::regclass
  ) d CROSS JOIN LATERAL (SELECT FROM ${ROUNDS} r WHERE r.day = d.day LIMIT 1) found
  WHERE ${isKept('d.day')}
  ORDER BY d.day`;

const ROOM = `
  SELECT sum(pg_total_relation_size(h.inhrelid))::bigint AS bytes FROM pg_inherits h
  WHERE h.inhparent = '${ROUNDS}'::regclass`;

/** The first key of walletd's two-key advisory locks; the second key is the shard. */
const NAMES_LOCK = 0x77_6c_6e_6d;
const LATER = 'SELECT 1 FROM walletd_fresh WHERE shard = $1 AND epoch > $2::bigint LIMIT 1';
const FRESH = 'SELECT day, names FROM walletd_fresh WHERE shard = $1';
const DROP_FRESH = 'DELETE FROM walletd_fresh WHERE shard = $1 AND (epoch, sequence) < ($2::bigint, $3::bigint)';
const SAVED = 'SELECT part, names FROM walletd_saved WHERE shard = $1';
const SAVE = `
  INSERT INTO walletd_saved (shard, part, names) VALUES ($1, $2, $3)
  ON CONFLICT (shard, part) DO UPDATE SET names = excluded.names`;

const DROP = `
  DELETE FROM ${ROUNDS} r USING ${unnest(1, PLACE_TYPES)} AS n(${PLACE})
  WHERE r.day = n.day AND r.shard = n.shard AND r.player = n.player AND r.round = n.round AND r.epoch = n.epoch
    AND r.sequence = n.sequence AND r.index = n.index`;

/**
 * SQL that puts nothing if the mark is older than the required one ($19 to $21), or if the day of a record was dropped
 * because it precedes the oldest kept day ($22). The statement returns the state before the put.
 */
function put(onConflict: string): string {
  const ifReached = 'WHERE EXISTS (SELECT FROM reached)';
  return `
  WITH before AS (
    SELECT mark.*, (${FIRST_DAY}) AS first_day FROM (SELECT) AS always
    LEFT JOIN (${MARK.replace('$1', '$18::int')}) AS mark ON true
  ), reached AS (
    SELECT FROM before
    WHERE ($19::bigint IS NULL OR (mark_epoch, mark_sequence, mark_index) >= ($19::bigint, $20::bigint, $21::int))
      AND (first_day IS NULL OR first_day <= $22::int)
  ), fresh AS (
    INSERT INTO walletd_fresh (shard, epoch, sequence, day, names)
    SELECT * FROM ${unnest(9, ['int', 'bigint', 'bigint', 'int', 'bytea'])} ${ifReached}
  ), marked AS (${raise(14, ifReached)}
  ), put AS (
    INSERT INTO ${ROUNDS} (${PLACE}, record)
    SELECT * FROM ${unnest(1, [...PLACE_TYPES, 'bytea'])} ${ifReached} ${onConflict}
  )
  SELECT * FROM before`;
}

/**
 * Excludes records of dropped days. Such records remain if a put and a drop overlap, and until the partitions can be
 * dropped.
 */
function isKept(day: string): string {
  return `${day} >= coalesce((${FIRST_DAY}), 0)`;
}

/** Values by column, as `unnest` expects them. */
function placesOf(places: readonly DatedPlace[]): Buffer[] {
  return [
    int4Array(places.map(({ day }) => day)),
    int4Array(places.map(({ shard }) => shard)),
    int8Array(places.map(({ player }) => player)),
    int8Array(places.map(({ round }) => round)),
    int8Array(places.map(({ lsn }) => lsn.epoch)),
    int8Array(places.map(({ lsn }) => lsn.sequence)),
    int4Array(places.map(({ index }) => index)),
  ];
}

function encoded(records: readonly ArchiveRecord[]): Buffer {
  return byteaArray(records.map(encodedLength), (bytes, at, i) => writeRecord(records[i] as ArchiveRecord, bytes, at));
}

/** Keys of one put by shard and day, as one array per column. */
function freshOf(records: readonly ArchiveRecord[]): Buffer[] {
  const groups = new Map<number, ArchiveRecord[]>();
  for (const record of records) {
    const key = record.shard * 2 ** 32 + record.day;
    const some = groups.get(key);
    if (some === undefined) groups.set(key, [record]);
    else some.push(record);
  }
  const firsts = [...groups.values()].map(([first]) => first as ArchiveRecord);
  const names = [...groups.values()].map(encodeFreshKeys);
  return [
    int4Array(firsts.map(({ shard }) => shard)),
    int8Array(firsts.map(({ lsn }) => lsn.epoch)),
    int8Array(firsts.map(({ lsn }) => lsn.sequence)),
    int4Array(firsts.map(({ day }) => day)),
    byteaArray(
      names.map(({ length }) => length),
      (bytes, at, i) => names[i]?.copy(bytes, at),
    ),
  ];
}

function placeOf(shard: number, { day, player, round, epoch, sequence, index }: Row): DatedPlace {
  const lsn = { epoch: Number(epoch), sequence: Number(sequence) };
  return { shard, day, player: Number(player), round: Number(round), lsn, index };
}

/** Undefined for a damaged record. */
function tryRecord(shard: number, row: Row): ArchiveRecord | undefined {
  try {
    return recordOf(shard, row);
  } catch (error) {
    if (!(error instanceof DamagedRecordError)) throw error;
    return undefined;
  }
}

function recordOf(shard: number, row: Row): ArchiveRecord {
  const place = placeOf(shard, row);
  return decodeRecord(place, row.record as Buffer, tableOf(place));
}

function tableOf({ day }: DatedPlace): string {
  return `${PARTITION}${day}`;
}

function bytesOf(hash: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(hash);
  return bytes;
}

function nameOf({ day, player, round, epoch, sequence, index }: Row): string {
  return `${day} ${player} ${round} ${epoch} ${sequence} ${index}`;
}

/** Marks as one array per column, ordered by shard: two puts that raise the same marks lock them in the same order. */
function marksOf(marks: ReadonlyMap<number, ArchiveMark>): Buffer[] {
  const rows = [...marks].sort(([one], [other]) => one - other);
  return [
    int4Array(rows.map(([shard]) => shard)),
    int8Array(rows.map(([, { epoch }]) => epoch)),
    int8Array(rows.map(([, { sequence }]) => sequence)),
    int4Array(rows.map(([, { index }]) => index)),
  ];
}

function findMark({ mark_epoch, mark_sequence, mark_index }: MarkRow): ArchiveMark | undefined {
  if (mark_epoch === null || mark_sequence === null || mark_index === null) return undefined;
  return { epoch: Number(mark_epoch), sequence: Number(mark_sequence), index: mark_index };
}

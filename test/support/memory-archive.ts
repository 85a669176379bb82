import {
  type Archive,
  type ArchivedPlace,
  type ArchiveKey,
  type ArchiveRecord,
  type Days,
  type FreshKeys,
  newestMarks,
} from '../../src/ports/archive.js';
import { mustReach } from '../../src/ports/archive-behind-error.js';
import { DamagedRecordError } from '../../src/ports/damaged-record-error.js';
import { mustKeep } from '../../src/ports/dropped-day-error.js';
import { compareLsn, type Lsn } from '../../src/ports/lsn.js';
import { type ArchiveMark, compareMarks } from '../../src/wallet/archive-mark.js';

/** An archive stored in an array. `isAway` makes it reject calls. Reading a record in `damaged` rejects. */
export class MemoryArchive implements Archive {
  isAway = false;
  records: ArchiveRecord[] = [];
  readonly damaged = new Set<ArchiveRecord>();
  /** Saved parts, by shard. */
  readonly saved = new Map<number, Map<number, Buffer | undefined>>();
  private readonly fresh: {
    readonly shard: number;
    readonly lsn: Lsn;
    readonly day: number;
    readonly names: ArchiveKey[];
  }[] = [];
  /** The oldest day that the archive keeps. */
  private firstDay = 0;
  /** Number of names that have been looked up. */
  looked = 0;

  /** Archive marks (positions up to which each shard is archived); a test may remove one. */
  readonly marks = new Map<number, ArchiveMark>();

  async put(records: readonly ArchiveRecord[], required?: ArchiveMark): Promise<void> {
    await this.answer();
    const [first] = records;
    if (first !== undefined) mustReach(first.shard, this.marks.get(first.shard), required);
    mustKeep(records, this.firstDay);
    for (const [shard, mark] of newestMarks(records)) this.raise(shard, mark);
    for (const record of records) {
      const { shard, lsn, day } = record;
      this.fresh.push({ shard, lsn, day, names: namesOf([record]) });
    }
    for (const { remembers, ...record } of records) {
      if (!this.records.some((other) => isSame(record, other))) this.records.push(record);
    }
  }

  async mark(shard: number): Promise<ArchiveMark | undefined> {
    await this.answer();
    return this.marks.get(shard);
  }

  async raiseMark(shard: number, mark: ArchiveMark): Promise<void> {
    await this.answer();
    this.raise(shard, mark);
  }

  async missingDays(): Promise<readonly []> {
    return [];
  }

  async acceptLoss(marks: ReadonlyMap<number, ArchiveMark>): Promise<void> {
    await this.answer();
    for (const [shard, mark] of marks) this.raise(shard, mark);
  }

  private raise(shard: number, mark: ArchiveMark): void {
    if (compareMarks(this.marks.get(shard), mark) < 0) this.marks.set(shard, mark);
  }

  async find(
    shard: number,
    names: readonly ArchiveKey[],
    days: Days,
    required?: ArchiveMark,
  ): Promise<readonly ArchiveRecord[]> {
    this.looked += names.length;
    await this.answer();
    mustReach(shard, this.marks.get(shard), required);
    const found = this.of(shard).filter(
      (record) => record.day >= days.first && record.day <= days.last && names.some((name) => isNamed(record, name)),
    );
    return this.whole(found);
  }

  async list(shard: number, player: number, version: number, limit: number): Promise<readonly ArchivedPlace[]> {
    await this.answer();
    const places = this.of(shard)
      .filter((record) => record.player === player)
      .flatMap((record) => record.ids.map((id) => ({ ...id, record })))
      .filter((place) => place.version > 0 && place.version < version)
      .sort((a, b) => b.version - a.version);
    const last = places[limit - 1]?.version ?? 0;
    return places.filter((place) => place.version >= last);
  }

  async read(
    shard: number,
    records: readonly ArchivedPlace['record'][],
    player: number,
  ): Promise<readonly ArchiveRecord[]> {
    await this.answer();
    return this.whole(
      records.flatMap((wanted) => this.of(shard).find((record) => isSame(record, { ...wanted, shard, player })) ?? []),
    );
  }

  async days(): Promise<readonly number[]> {
    await this.answer();
    return [...new Set(this.records.map(({ day }) => day))].sort((a, b) => a - b);
  }

  async *all(shard: number, day: number): AsyncIterable<readonly ArchiveRecord[]> {
    await this.answer();
    for (const record of this.of(shard)) if (record.day === day) yield [record];
  }

  async *names(shard: number, day: number): AsyncIterable<readonly ArchiveKey[]> {
    let damaged: ArchiveRecord | undefined;
    for await (const records of this.all(shard, day)) {
      damaged ??= records.find((record) => this.damaged.has(record));
      yield namesOf(records.map((record) => (this.damaged.has(record) ? { ...record, ids: [] } : record)));
    }
    if (damaged !== undefined) throw new DamagedRecordError(damaged, 'memory');
  }

  async *freshKeys(shard: number): AsyncIterable<FreshKeys> {
    await this.answer();
    for (const one of this.fresh) if (one.shard === shard) yield one;
  }

  async savedKeys(shard: number): Promise<ReadonlyMap<number, Buffer | undefined>> {
    await this.answer();
    return this.saved.get(shard) ?? new Map();
  }

  async saveKeys(shard: number, parts: ReadonlyMap<number, Buffer | undefined>, lsn: Lsn): Promise<void> {
    await this.answer();
    const saved = this.saved.get(shard) ?? new Map<number, Buffer | undefined>();
    for (const [number, part] of parts) {
      if (part === undefined) saved.delete(number);
      else saved.set(number, part);
    }
    this.saved.set(shard, saved);
    const isOld = (one: { shard: number; lsn: Lsn }) => one.shard === shard && compareLsn(one.lsn, lsn) < 0;
    this.fresh.splice(0, this.fresh.length, ...this.fresh.filter((one) => !isOld(one)));
  }

  async dropBefore(day: number): Promise<void> {
    await this.answer();
    this.firstDay = Math.max(this.firstDay, day);
    this.records = this.records.filter((record) => record.day >= day);
  }

  async dropAfter(shard: number, lsn: Lsn, isAbandoned: (record: ArchiveRecord) => boolean): Promise<void> {
    await this.answer();
    const isDropped = (record: ArchiveRecord) =>
      record.shard === shard && compareLsn(record.lsn, lsn) > 0 && isAbandoned(record);
    this.records = this.records.filter((record) => !isDropped(record));
  }

  async serverMs(): Promise<undefined> {}

  async room(): Promise<{ readonly usedBytes: number }> {
    return { usedBytes: this.records.reduce((sum, { image }) => sum + image.length, 0) };
  }

  async close(): Promise<void> {}

  private of(shard: number): ArchiveRecord[] {
    return this.records.filter((record) => record.shard === shard);
  }

  private whole(records: readonly ArchiveRecord[]): readonly ArchiveRecord[] {
    for (const record of records) if (this.damaged.has(record)) throw new DamagedRecordError(record, 'memory');
    return records;
  }

  /** Answers asynchronously, like any archive. */
  private async answer(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.isAway) throw new Error('the archive is away');
  }
}

function isSame(a: Pick<ArchiveRecord, 'shard' | 'day' | 'player' | 'round' | 'lsn' | 'index'>, b: typeof a): boolean {
  const isSameRound = a.shard === b.shard && a.day === b.day && a.player === b.player && a.round === b.round;
  return isSameRound && compareLsn(a.lsn, b.lsn) === 0 && a.index === b.index;
}

function isNamed(record: ArchiveRecord, { player, kind, hash }: ArchiveKey): boolean {
  if (record.player !== player) return false;
  return kind === 'round' ? record.round === hash : record.ids.some(({ id }) => id === hash);
}

function namesOf(records: readonly ArchiveRecord[]): ArchiveKey[] {
  return records.flatMap(({ player, round, ids }) => [
    { player, kind: 'round' as const, hash: round },
    ...ids.map(({ id }) => ({ player, kind: 'transaction' as const, hash: id })),
  ]);
}

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

/** Delivers a call to the archive's server and returns its answer, or loses either of them. */
type Call = <T>(run: () => T) => Promise<T>;

interface Put extends FreshKeys {
  readonly lsn: Lsn;
}

/** Archive contents for one shard. */
interface Kept {
  readonly byPlayer: Map<number, ArchiveRecord[]>;
  fresh: Put[];
  readonly saved: Map<number, Buffer | undefined>;
}

/** Archive contents at one point in time. */
export interface ArchiveState {
  readonly shards: ReadonlyMap<number, Kept>;
  readonly marks: ReadonlyMap<number, ArchiveMark>;
  readonly firstDay: number;
}

export const NOTHING_ROTTEN = (_: ArchiveRecord): boolean => false;
export const EMPTY_ARCHIVE: ArchiveState = { shards: new Map(), marks: new Map(), firstDay: 0 };

/** The archive that the nodes share: one server, in memory. */
export class SimulatedArchive {
  private readonly shards = new Map<number, Kept>();
  /** The server's clock; undefined if the archive is on the nodes' own machine. */
  serverMs: (() => number) | undefined = undefined;
  /** Contents of the correct archive, set while a different archive replaces it. */
  private right: ArchiveState | undefined = undefined;
  private readonly marks = new Map<number, ArchiveMark>();
  /** True if a record cannot be read. */
  isRotten = NOTHING_ROTTEN;
  /** The oldest day that the archive keeps. */
  private firstDay = 0;

  /** The archive as seen by one process. */
  for(call: Call): Archive {
    const answer = async function* <T>(run: () => T): AsyncIterable<T> {
      yield await call(run);
    };
    return {
      put: (records, required) => call(() => this.put(records, required)),
      mark: (shard) => call(() => this.marks.get(shard)),
      raiseMark: (shard, mark) => call(() => this.raise(shard, mark)),
      missingDays: async () => [],
      acceptLoss: (marks) =>
        call(() => {
          for (const [shard, mark] of marks) this.raise(shard, mark);
        }),
      find: (shard, names, days, required) =>
        call(() => {
          mustReach(shard, this.marks.get(shard), required);
          return this.find(shard, names, days);
        }),
      list: (shard, player, version, limit) => call(() => this.list(shard, player, version, limit)),
      read: (shard, wanted, player) => call(() => this.read(shard, wanted, player)),
      days: () => call(() => this.days()),
      all: (shard, day) => answer(() => this.readable(this.of(shard, day))),
      names: async function* (this: SimulatedArchive, shard: number, day: number) {
        const records = await call(() => this.of(shard, day));
        yield namesOf(records.map((record) => (this.isRotten(record) ? { ...record, ids: [] } : record)));
        this.readable(records);
      }.bind(this),
      freshKeys: async function* (this: SimulatedArchive, shard: number) {
        yield* await call(() => [...this.shard(shard).fresh]);
      }.bind(this),
      savedKeys: (shard) => call(() => new Map(this.shard(shard).saved)),
      saveKeys: async (shard, parts, lsn) => {
        const isSaved = await call(() => this.saveKeys(shard, parts, lsn));
        if (!isSaved) throw new Error('another node has the shard');
      },
      dropBefore: (day) => call(() => this.dropBefore(day)),
      dropAfter: (shard, lsn, isAbandoned) =>
        call(() =>
          this.keep((record) => record.shard !== shard || compareLsn(record.lsn, lsn) <= 0 || !isAbandoned(record)),
        ),
      serverMs: () => call(() => this.serverMs?.()),
      room: async () => ({ usedBytes: 0 }),
      close: async () => {},
    };
  }

  /** Copies the contents of the archive. */
  state(): ArchiveState {
    const shards = new Map([...this.shards].map(([shard, kept]) => [shard, copyOf(kept)]));
    return { shards, marks: new Map(this.marks), firstDay: this.firstDay };
  }

  /** Answers like an older or empty archive, until `mend`. */
  rollBack({ shards, marks, firstDay }: ArchiveState): void {
    if (this.right !== undefined) return;
    this.right = this.state();
    this.firstDay = firstDay;
    for (const [shard, mark] of this.right.marks) {
      const older = marks.get(shard);
      if (compareMarks(older, mark) >= 0) continue;
      const kept = shards.get(shard);
      if (older === undefined || kept === undefined) {
        this.marks.delete(shard);
        this.shards.delete(shard);
      } else {
        this.marks.set(shard, older);
        this.shards.set(shard, copyOf(kept));
      }
    }
  }

  /**
   * Restores the correct archive. The replacement stays if it has accepted newer records, because then it had all
   * records on which the log relied.
   */
  mend(): void {
    const { right } = this;
    if (right === undefined) return;
    this.right = undefined;
    this.firstDay = right.firstDay;
    for (const [shard, mark] of right.marks) {
      if (compareMarks(this.marks.get(shard), mark) > 0) continue;
      this.marks.set(shard, mark);
      this.shards.set(shard, right.shards.get(shard) as Kept);
    }
  }

  private shard(shard: number): Kept {
    let kept = this.shards.get(shard);
    if (kept === undefined) {
      kept = { byPlayer: new Map(), fresh: [], saved: new Map() };
      this.shards.set(shard, kept);
    }
    return kept;
  }

  private raise(shard: number, mark: ArchiveMark): void {
    if (compareMarks(this.marks.get(shard), mark) < 0) this.marks.set(shard, mark);
  }

  private put(records: readonly ArchiveRecord[], required: ArchiveMark | undefined): void {
    const [first] = records;
    if (first !== undefined) mustReach(first.shard, this.marks.get(first.shard), required);
    mustKeep(records, this.firstDay);
    for (const [shard, mark] of newestMarks(records)) this.raise(shard, mark);
    for (const record of records) {
      const { fresh } = this.shard(record.shard);
      fresh.push({ lsn: record.lsn, day: record.day, names: namesOf([record]) });
      const ofPlayer = this.ofPlayer(record.shard, record.player);
      if (!ofPlayer.some((other) => isSame(other, record))) ofPlayer.push(record);
      this.shard(record.shard).byPlayer.set(record.player, ofPlayer);
    }
  }

  private find(shard: number, names: readonly ArchiveKey[], days: Days): ArchiveRecord[] {
    const found = names.flatMap((name) =>
      this.ofPlayer(shard, name.player).filter(
        (record) => record.day >= days.first && record.day <= days.last && isNamed(record, name),
      ),
    );
    return this.readable([...new Set(found)]);
  }

  private list(shard: number, player: number, version: number, limit: number): ArchivedPlace[] {
    const places = this.ofPlayer(shard, player)
      .flatMap((record) => record.ids.map((id) => ({ ...id, record })))
      .filter((place) => place.version > 0 && place.version < version)
      .sort((a, b) => b.version - a.version);
    const last = places[limit - 1]?.version ?? 0;
    return places.filter((place) => place.version >= last);
  }

  private read(shard: number, wanted: readonly ArchivedPlace['record'][], player: number): ArchiveRecord[] {
    const ofPlayer = this.ofPlayer(shard, player);
    return this.readable(wanted.flatMap((one) => ofPlayer.find((record) => isSame(record, one)) ?? []));
  }

  private readable(records: ArchiveRecord[]): ArchiveRecord[] {
    const rotten = records.find((record) => this.isRotten(record));
    if (rotten !== undefined) throw new DamagedRecordError(rotten, 'the simulation');
    return records;
  }

  private days(): number[] {
    const days = new Set<number>();
    for (const { byPlayer } of this.shards.values()) {
      for (const records of byPlayer.values()) for (const { day } of records) days.add(day);
    }
    return [...days].sort((a, b) => a - b);
  }

  /** Saves the parts. Like the PostgreSQL archive, refuses (false) a former owner, which lacks newer keys. */
  private saveKeys(shard: number, parts: ReadonlyMap<number, Buffer | undefined>, lsn: Lsn): boolean {
    const kept = this.shard(shard);
    if (kept.fresh.some((one) => one.lsn.epoch > lsn.epoch)) return false;
    for (const [number, part] of parts) {
      if (part === undefined) kept.saved.delete(number);
      else kept.saved.set(number, Buffer.from(part));
    }
    kept.fresh = kept.fresh.filter((one) => compareLsn(one.lsn, lsn) >= 0);
    return true;
  }

  private dropBefore(day: number): void {
    this.firstDay = Math.max(this.firstDay, day);
    this.keep((record) => record.day >= day);
  }

  private keep(isKept: (record: ArchiveRecord) => boolean): void {
    for (const { byPlayer } of this.shards.values()) {
      for (const [player, records] of byPlayer) byPlayer.set(player, records.filter(isKept));
    }
  }

  private ofPlayer(shard: number, player: number): ArchiveRecord[] {
    return this.shard(shard).byPlayer.get(player) ?? [];
  }

  private of(shard: number, day: number): ArchiveRecord[] {
    return [...this.shard(shard).byPlayer.values()].flat().filter((record) => record.day === day);
  }
}

function copyOf({ byPlayer, fresh, saved }: Kept): Kept {
  const records = new Map([...byPlayer].map(([player, records]) => [player, [...records]]));
  return { byPlayer: records, fresh: [...fresh], saved: new Map(saved) };
}

/** True if both records belong to the same shard and player. */
function isSame(a: ArchivedPlace['record'], b: ArchivedPlace['record']): boolean {
  return a.day === b.day && a.round === b.round && a.index === b.index && compareLsn(a.lsn, b.lsn) === 0;
}

function isNamed(record: ArchiveRecord, { kind, hash }: ArchiveKey): boolean {
  return kind === 'round' ? record.round === hash : record.ids.some(({ id }) => id === hash);
}

function namesOf(records: readonly ArchiveRecord[]): ArchiveKey[] {
  return records.flatMap(({ player, round, ids }) => [
    { player, kind: 'round' as const, hash: round },
    ...ids.map(({ id }) => ({ player, kind: 'transaction' as const, hash: id })),
  ]);
}

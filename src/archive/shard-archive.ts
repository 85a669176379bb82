import { assert } from '../base/assert.js';
import { messageOf } from '../base/message-of.js';
import { Slices } from '../base/slices.js';
import { DAY_MS, dayOf } from '../base/time.js';
import {
  ALL_DAYS,
  type ArchivedId,
  type ArchiveKey,
  type ArchiveRecord,
  type Days,
  type FreshKeys,
  newestMarks,
} from '../ports/archive.js';
import { mustReach } from '../ports/archive-behind-error.js';
import { DamagedArchiveError } from '../ports/damaged-archive-error.js';
import { DroppedDayError } from '../ports/dropped-day-error.js';
import { compareLsn, formatLsn, type Lsn } from '../ports/lsn.js';
import { isSameHead } from '../ports/wal.js';
import { type ArchiveMark, newestMark } from '../wallet/archive-mark.js';
import type { Archivable, Missing } from '../wallet/archiving.js';
import type { CallbackCommand } from '../wallet/command.js';
import type { ArchivablePlayer, ArchivedPart } from '../wallet/query.js';
import { hashOfName, hashOfPlayer, hashOfTransaction } from './archive-hash.js';
import { ArchiveOutage, GivenUpError } from './archive-outage.js';
import type { EvictedKeys } from './evicted-keys.js';
import { KeyFilter, type SkippedSpan } from './key-filter.js';
import { logUnusable } from './log-unusable.js';
import { Lookups, type NamedTransaction } from './lookups.js';
import { newestSerialized } from './newest-serialized.js';
import type { ShardArchiveDeps } from './shard-archive-deps.js';

export interface ArchiveMeasures {
  /** Number of rounds and transactions that the archive holds. */
  readonly names: number;
  /** Memory used by the key filter. */
  readonly bytes: number;
  /** True if the archive did not answer the last query. */
  readonly isAway: boolean;
  /** True if the archive answered but lacked records that the log relies on. */
  readonly isBehind: boolean;
  /** True if the archive's keys are not loaded and the archive does not answer. The shard then accepts no new bets. */
  readonly isUnknown: boolean;
  /**
   * Number of key sets that could not be built. Every key that may belong to their days is looked up in the archive.
   */
  readonly skipped: number;
}

const INDEXES = 2 ** 16;
/**
 * Number of merge steps after each batch of keys. It is high enough to keep up with loading and takes less than a
 * millisecond.
 */
const LOAD_STEPS = 16;
/** Number of keys added between two checks of the clock. */
const NAMES_PER_LOOK = 256;

/** Rounds that one put has made durable in the archive. */
export interface Put {
  /** The newest record; undefined if there is none. */
  readonly mark: ArchiveMark | undefined;
  readonly players: readonly ArchivablePlayer[];
}

/** The parts of a record from which its keys are formed. */
type Names = Pick<ArchiveRecord, 'day' | 'player' | 'round' | 'ids'>;

/**
 * One shard's part of the archive. It rules out most absent keys without a query and looks up the rest. During outages
 * it retries; requests that wait for the archive are answered at their deadline.
 */
export class ShardArchive {
  private known: KeyFilter;
  /** True once the filter has all of the archive's keys. Until then, any key may be in the archive. */
  private isComplete = false;
  /**
   * Keys that were put while the archive's keys were being read. The result of that read may be older and lack them.
   */
  private putMeanwhile: Names[] = [];
  /**
   * Numbers of saved spans that cannot be used because they are damaged, or because they were saved with a different
   * retention or version.
   */
  private unusable: readonly number[] = [];
  private loads = 0;
  /** Set while the archive is being read for the newest load. Identifies that load. */
  private reading: (() => boolean) | undefined = undefined;
  /** Keys from the log that this standby follows. They extend the filter. */
  private followed: EvictedKeys | undefined = undefined;
  private looked: Promise<void> = Promise.resolve();
  private writing: Promise<void> = Promise.resolve();
  private readonly outage: ArchiveOutage;
  private readonly lookups: Lookups;
  private putting = 0;
  private lastPut: Lsn | undefined = undefined;
  /** The newest record that this node has put since it took over the shard. */
  private newestPut: ArchiveMark | undefined = undefined;
  /** The `lsn` of the newest records, and the index of the next record with that `lsn`. */
  private numbered: { readonly lsn: Lsn; next: number } | undefined = undefined;

  constructor(
    private readonly shard: number,
    private readonly deps: ShardArchiveDeps,
  ) {
    this.known = this.newNames();
    this.outage = new ArchiveOutage(shard, deps);
    this.lookups = new Lookups(shard, deps, this.outage, {
      findDays: (names) => this.findDays(names),
      required: () => this.required,
    });
  }

  get bytes(): number {
    return this.known.bytes;
  }

  get measures(): ArchiveMeasures {
    const { known, outage } = this;
    return {
      names: known.count,
      bytes: known.bytes,
      isAway: outage.isAway,
      isBehind: outage.isBehind,
      isUnknown: this.isUnknown,
      skipped: known.skipped,
    };
  }

  /** True if the archive's keys are neither loaded nor being read, so that every new bet would wait for the archive. */
  get isUnknown(): boolean {
    return !this.isComplete && this.reading === undefined;
  }

  /**
   * Loads the archive's keys. Called again whenever the shard moves here from another node, which may have put more
   * records. `left` contains the keys of rounds that left memory in the replayed part of the log. The archive is not
   * queried if `left` is known to have all keys, alone or together with the node's file. Resolves when all keys are
   * loaded, or when a newer load has begun.
   */
  async load(left?: EvictedKeys): Promise<void> {
    this.forget();
    // Save nothing before this node's next put, because another node may have owned the shard in between.
    this.lastPut = undefined;
    this.newestPut = undefined;
    const number = this.loads;
    const isNewest = () => number === this.loads && !this.outage.isClosed;
    if (left?.isAll === true) {
      this.complete(this.newNames(), left);
      // The keys are known, but the archive itself may be unavailable, so check it.
      void this.check();
      return;
    }
    const fromFile = left && this.namesInFile(left);
    this.looked = fromFile?.then(() => {}) ?? Promise.resolve();
    const found = await fromFile;
    const known = found ?? (await this.namesInArchive(isNewest));
    if (known === undefined) return;
    const slices = this.slices();
    for (let i = 0; i < this.putMeanwhile.length && isNewest(); i++) {
      know(known, this.putMeanwhile[i] as Names);
      await slices.yieldWhenDue();
    }
    if (!isNewest()) return;
    this.complete(known, left);
    if (found === undefined) await this.writeFile();
    else void this.check();
  }

  /** Resolves once the node's file has been read, or was found to be missing or unusable. Does not reject. */
  get fileRead(): Promise<void> {
    return this.looked;
  }

  /** Keeps the filter up to date for a takeover while this standby reads the shard's log. */
  follow(left: EvictedKeys): void {
    if (this.keepsWith(left)) {
      this.lastPut = undefined;
      this.followed = left;
      addEvicted(this.known, left);
    } else if (this.followed !== left) {
      void this.load(left);
      this.followed = left;
    } else if (!left.isUnbroken) {
      this.forget();
      this.followed = left;
    }
  }

  /**
   * The newest record that the archive must have, either because the log relies on it or because this node has put it.
   * Rounds leave memory as soon as their event is decided, but the log relies on their records only once the event is
   * durable.
   */
  private get required(): ArchiveMark | undefined {
    return newestMark(this.deps.required(), this.newestPut);
  }

  /**
   * The newest mark that was required since this function was called. The shard may move to another node while a put is
   * being repeated, and then requires no mark. An archive that has lost records must not accept that put, because the
   * put would raise the mark above the missing records.
   */
  private requiring(): () => ArchiveMark | undefined {
    let newest = this.required;
    return () => {
      newest = newestMark(newest, this.required);
      return newest;
    };
  }

  /** Called when this node begins to serve the shard. */
  takeOver(left: EvictedKeys | undefined): void {
    if (left === undefined || !this.keepsWith(left)) {
      void this.load(left);
      return;
    }
    this.lastPut = undefined;
    this.followed = undefined;
    addEvicted(this.known, left);
    void this.writeFile();
    // Check the archive, because the former owner may have reached a different server at the archive's address.
    void this.check();
  }

  /** True if the filter and the keys in `left` together are all of the archive's keys. */
  private keepsWith(left: EvictedKeys): boolean {
    if (!this.isComplete || !left.isUnbroken) return false;
    return this.followed === left || (this.followed === undefined && left.followsServed);
  }

  private complete(known: KeyFilter, left: EvictedKeys | undefined): void {
    this.known = known;
    if (left !== undefined) addEvicted(known, left);
    this.putMeanwhile = [];
    this.isComplete = true;
  }

  private newNames(): KeyFilter {
    const { retentionMs, hashKey } = this.deps;
    return new KeyFilter(Math.ceil(retentionMs / DAY_MS), hashKey, (span) => this.warnOfSkipped(span));
  }

  /**
   * All keys, from the node's file and the end of the log; undefined if the file is not usable. A usable file belongs
   * to this log and ends at an entry after which `left` has all keys.
   */
  private async namesInFile(left: EvictedKeys): Promise<KeyFilter | undefined> {
    const { shard, deps } = this;
    try {
      const found = await deps.names?.read(shard);
      if (found === undefined) return undefined;
      const { head, parts } = found;
      if (!left.isWhole) throw new Error('too many keys have left memory since');
      const isOld = compareLsn(head.lsn, left.since.lsn) < 0;
      if (isOld) throw new Error(`it ends at ${formatLsn(head.lsn)}, and the snapshot at ${formatLsn(left.since.lsn)}`);
      if (!isSameHead(head, left.since) && !(await deps.isInLog(head))) {
        throw new Error(`the log does not have its entry ${formatLsn(head.lsn)}`);
      }
      const known = this.newNames();
      if (!known.load(parts)) throw new Error('it was written with a different retention, or by a different walletd');
      // The file may contain keys that the archive's saved keys lack, so save all keys next time.
      known.touch();
      return known;
    } catch (error) {
      deps.log.warn(
        { code: 'archive-names-file-unusable', shard, error: messageOf(error) },
        'key filter file is unusable, rebuilding it from the archive',
      );
      return undefined;
    }
  }

  /** Reads all keys from the archive. Resolves with undefined if a newer load has begun or this object is closed. */
  private async namesInArchive(isNewest: () => boolean): Promise<KeyFilter | undefined> {
    try {
      return await this.outage.untilItAnswers(async () => {
        await this.mustReachLog();
        this.reading = isNewest;
        try {
          const known = (await this.loadSaved()) ?? (await this.loadAll(isNewest));
          // Check again, because a different server may have answered some of the reads.
          await this.mustReachLog();
          return known;
        } finally {
          if (this.reading === isNewest) this.reading = undefined;
        }
      }, isNewest);
    } catch (error) {
      if (error instanceof GivenUpError) return undefined;
      throw error;
    }
  }

  /**
   * Writes the keys to the node's file. Called before a snapshot is published, because the file must never end before
   * the newest snapshot. Does not reject.
   */
  async writeFile(): Promise<void> {
    const { shard, deps } = this;
    const { names } = deps;
    if (names === undefined) return;
    const write = this.writing.then(async () => {
      // A round's keys are added to the filter before the event that removes the round from memory is decided, so the
      // filter has all keys up to the head.
      const head = deps.head();
      const parts = this.isComplete && head !== undefined ? this.known.whole() : undefined;
      if (head === undefined || parts === undefined) return;
      try {
        await names.write(shard, head, parts);
      } catch (error) {
        deps.log.warn(
          { code: 'archive-names-file-not-written', shard, error: messageOf(error) },
          'cannot write the key filter file',
        );
      }
    });
    this.writing = write;
    await write;
  }

  /**
   * Throws an `ArchiveBehindError` if the archive lacks records that the log relies on. Answers from such an archive
   * are not trusted.
   */
  private async mustReachLog(): Promise<void> {
    const { required } = this;
    mustReach(this.shard, await this.deps.archive.mark(this.shard), required);
  }

  /** Checks that the archive has all records that the log relies on, even if no lookup is pending. Does not reject. */
  async check(): Promise<void> {
    await this.outage.ask(() => this.mustReachLog());
  }

  /** Drops the filter, because another node now owns the shard. */
  forget(): void {
    this.loads++;
    this.isComplete = false;
    this.reading = undefined;
    this.followed = undefined;
    this.putMeanwhile = [];
    this.known = this.newNames();
  }

  /** Like `loadSavedOrDamaged`, but returns undefined if the saved keys are damaged. */
  private async loadSaved(): Promise<KeyFilter | undefined> {
    try {
      return await this.loadSavedOrDamaged();
    } catch (error) {
      if (!(error instanceof DamagedArchiveError)) throw error;
      return this.cannotBeUsed();
    }
  }

  /**
   * The saved and fresh keys; undefined if no keys were saved or some of them are unusable. Reads fresh puts first,
   * because the former owner may be saving keys at the same time. Keys that it removes from the fresh puts in between
   * are then among the saved keys.
   */
  private async loadSavedOrDamaged(): Promise<KeyFilter | undefined> {
    const { archive } = this.deps;
    const known = this.newNames();
    this.unusable = [];
    const fresh: FreshKeys[] = [];
    for await (const put of archive.freshKeys(this.shard)) {
      if (put === undefined) return this.cannotBeUsed();
      fresh.push(put);
    }
    const saved = await archive.savedKeys(this.shard);
    if (saved.size === 0) return undefined;
    if (!known.load(saved)) {
      this.unusable = [...saved.keys()];
      return this.cannotBeUsed();
    }
    const slices = this.slices();
    for (const { day, names } of fresh) await learn(known, day, names, slices);
    return known;
  }

  private cannotBeUsed(): undefined {
    this.deps.log.warn(
      { code: 'archive-names-reread', shard: this.shard },
      'saved key filter is damaged or outdated, rebuilding it from the archive',
    );
    return undefined;
  }

  private warnOfSkipped({ days, error }: SkippedSpan): void {
    const { shard, deps } = this;
    deps.log.warn(
      { code: 'archive-names-skipped', shard, firstDay: days.first, lastDay: days.last, error: messageOf(error) },
      'cannot build part of the key filter, looking its days up in the archive',
    );
  }

  private async loadAll(isNewest: () => boolean): Promise<KeyFilter> {
    const { archive } = this.deps;
    const known = this.newNames();
    const slices = this.slices();
    for (const day of [...(await archive.days())].reverse()) {
      try {
        for await (const names of archive.names(this.shard, day)) {
          if (!isNewest()) return known;
          await learn(known, day, names, slices);
        }
      } catch (error) {
        if (!(error instanceof DamagedArchiveError)) throw error;
        known.skipDay(day, error);
      }
    }
    known.discard(this.unusable);
    return known;
  }

  private slices(): Slices {
    return new Slices(this.deps.clock, this.deps.yieldTurn);
  }

  /** Saves the filter in the archive for the next start. */
  async save(): Promise<void> {
    const { lastPut } = this;
    if (!this.isComplete || this.putting > 0 || lastPut === undefined) return;
    let parts: ReadonlyMap<number, Buffer | undefined> = new Map();
    try {
      parts = this.known.unsaved();
      if (parts.size === 0) return;
      this.known.saved();
      await this.deps.archive.saveKeys(this.shard, parts, lastPut);
    } catch (error) {
      // The save may have failed, so save all spans next time.
      this.known.touch();
      this.known.discard([...parts].flatMap(([number, part]) => (part === undefined ? [number] : [])));
      this.deps.log.warn(
        { code: 'archive-names-not-saved', shard: this.shard, error: messageOf(error) },
        'cannot save the key filter',
      );
    }
  }

  /** False if there are no missing ids, or if the archive certainly has none of them. */
  mayHaveMissing(username: string, productId: string, missing: Missing): boolean {
    const { ids, rewardIds, roundIds } = missing;
    if (ids.length === 0 && rewardIds.length === 0 && roundIds.length === 0) return false;
    return this.mayHave(hashOfPlayer(username), productId, missing);
  }

  /**
   * Archived rounds that contain one of the missing ids. Rejects if such a record is damaged, which is logged, and at
   * `deadlineMs` during an outage. Only for ids of which the archive may have one.
   */
  find(
    username: string,
    productId: string,
    { ids, rewardIds, roundIds }: Missing,
    deadlineMs = Number.POSITIVE_INFINITY,
  ): Promise<ArchivedPart> {
    const player = hashOfPlayer(username);
    const rounds = roundIds.map((id): ArchiveKey => ({ player, kind: 'round', hash: hashOfName(productId, id) }));
    const named = (id: string, isReward: boolean): NamedTransaction => {
      const hash = isReward ? hashOfReward(productId, id) : hashOfName(productId, id);
      return { id, isReward, name: { player, kind: 'transaction', hash } };
    };
    const transactions = [...ids.map((id) => named(id, false)), ...rewardIds.map((id) => named(id, true))];
    const days = this.findDays([...rounds, ...transactions.map(({ name }) => name)]);
    assert(days !== undefined, 'a key that may exist belongs to some days');
    return this.lookups.add({ username, player, productId, rounds, roundIds, transactions, days, deadlineMs });
  }

  /**
   * A player's archived rounds that contain the newest `limit` transactions up to `version`. Rejects if a record is
   * damaged, which is logged, and during an outage once the result is no longer wanted.
   */
  async list(username: string, version: number, limit: number, isWanted: () => boolean): Promise<ArchivedPart> {
    const { archive, log } = this.deps;
    const player = hashOfPlayer(username);
    try {
      const [places, records] = await this.outage.untilItAnswers(async () => {
        await this.mustReachLog();
        const places = await archive.list(this.shard, player, version + 1, limit);
        return [places, await archive.read(this.shard, distinct(places.map(({ record }) => record)), player)] as const;
      }, isWanted);
      const downTo = places.length < limit ? 0 : Math.min(...places.map((place) => place.version));
      return { images: newestSerialized(username, records), downTo };
    } catch (error) {
      if (!(error instanceof GivenUpError)) logUnusable(log, this.shard, player, error);
      throw error;
    }
  }

  /**
   * Puts these rounds into the archive; resolves when they are durable. Rounds of dropped days are omitted and stay in
   * memory until they are forgotten. `lsn` is a durable entry that is not older than the state of the rounds.
   */
  async put(lsn: Lsn, leaving: readonly ArchivablePlayer[]): Promise<Put> {
    let records: ArchiveRecord[] = [];
    let firstDay = 0;
    for (const { username, rounds } of leaving) {
      const player = hashOfPlayer(username);
      for (const round of rounds) records.push(this.recordOf(lsn, player, round, this.nextIndex(lsn)));
    }
    this.putting++;
    const requiring = this.requiring();
    await this.outage.untilItTakes(async () => {
      // Require the previous mark. After a failover to a lagging replica, puts must stop, because a higher mark would
      // hide the missing records.
      const put = () => this.deps.archive.put(records, requiring());
      try {
        await put();
      } catch (error) {
        if (!(error instanceof DroppedDayError)) throw error;
        firstDay = error.firstDay;
        records = records.filter(({ day }) => day >= error.firstDay);
        await put();
      }
    });
    this.putting--;
    if (records.length === 0) return { mark: undefined, players: [] };
    this.lastPut = lsn;
    const mark = newestMarks(records).get(this.shard);
    this.newestPut = newestMark(this.newestPut, mark);
    for (const { day, player, round, ids } of records) {
      const names = { day, player, round, ids };
      know(this.known, names);
      if (!this.isComplete) this.putMeanwhile.push(names);
    }
    this.deps.observer.archived(this.shard, records.length);
    return { mark, players: firstDay === 0 ? leaving : keptOf(leaving, firstDay) };
  }

  dropBefore(day: number): void {
    this.known.dropBefore(day);
  }

  /** Runs a short step of merging for the filter. Returns false if there is nothing to merge. */
  work(): boolean {
    return this.known.work();
  }

  close(): void {
    this.outage.isClosed = true;
  }

  /**
   * The index of the next record with this `lsn`, counted across puts. A round can change in the same entry at which
   * its record was put. Its next record, which supersedes the first, then has the same `lsn` and a higher index.
   */
  private nextIndex(lsn: Lsn): number {
    const { numbered } = this;
    if (numbered === undefined || compareLsn(numbered.lsn, lsn) !== 0) {
      this.numbered = { lsn, next: 1 };
      return 0;
    }
    return numbered.next++ % INDEXES;
  }

  private recordOf(lsn: Lsn, player: number, round: Archivable, index: number): ArchiveRecord {
    const { productId, roundId, image, updatedMs, transactions, remembers } = round;
    const ids: ArchivedId[] = [];
    for (const { kind, id, version } of transactions) {
      if (kind !== 'mark') ids.push({ id: hashOfTransaction(kind, productId, roundId, id), version });
    }
    const hash = hashOfName(productId, roundId);
    return { shard: this.shard, day: dayOf(updatedMs), player, round: hash, lsn, index, ids, image, remembers };
  }

  /**
   * False if the archive certainly has none of the rounds and bets that the command names, so that no lookup is needed.
   */
  mayHaveAnyOf({ username, productId, txns }: CallbackCommand): boolean {
    if (!this.isComplete) return true;
    const { known } = this;
    const player = hashOfPlayer(username);
    for (const { id, roundId } of txns) {
      if (known.mayHave(player, 'round', hashOfName(productId, roundId))) return true;
      if (known.mayHave(player, 'transaction', hashOfName(productId, id))) return true;
    }
    return false;
  }

  /**
   * True if the archive may have one of these ids. It is false for nearly all new ids. Called for every callback with a
   * new id, so it allocates nothing.
   */
  private mayHave(player: number, productId: string, { ids, rewardIds, roundIds }: Missing): boolean {
    if (!this.isComplete) return true;
    const { known } = this;
    for (const id of roundIds) if (known.mayHave(player, 'round', hashOfName(productId, id))) return true;
    for (const id of ids) if (known.mayHave(player, 'transaction', hashOfName(productId, id))) return true;
    for (const id of rewardIds) if (known.mayHave(player, 'transaction', hashOfReward(productId, id))) return true;
    return false;
  }

  /** The days that may contain one of these keys; undefined if the archive certainly has none of them. */
  private findDays(names: readonly ArchiveKey[]): Days | undefined {
    return this.isComplete ? this.known.findDays(names) : ALL_DAYS;
  }
}

/** The rounds whose last change was on this day or later. */
function keptOf(players: readonly ArchivablePlayer[], firstDay: number): ArchivablePlayer[] {
  return players.flatMap(({ username, rounds }) => {
    const kept = rounds.filter(({ updatedMs }) => dayOf(updatedMs) >= firstDay);
    return kept.length === 0 ? [] : [{ username, rounds: kept }];
  });
}

async function learn(known: KeyFilter, day: number, names: readonly ArchiveKey[], slices: Slices): Promise<void> {
  for (const [i, { player, kind, hash }] of names.entries()) {
    known.add(day, player, kind, hash);
    if (i % NAMES_PER_LOOK === 0) await slices.yieldWhenDue();
  }
  for (let steps = 0; steps < LOAD_STEPS && known.work(); steps++);
}

function know(known: KeyFilter, { day, player, round, ids }: Names): void {
  known.add(day, player, 'round', round);
  for (const { id } of ids) known.add(day, player, 'transaction', id);
}

function addEvicted(known: KeyFilter, left: EvictedKeys): void {
  left.take((day, player, kind, hash) => known.add(day, player, kind, hash));
}

function hashOfReward(productId: string, id: string): number {
  return hashOfTransaction('reward', productId, '', id);
}

function distinct(records: readonly Pick<ArchiveRecord, 'day' | 'round' | 'lsn' | 'index'>[]) {
  const byPlace = new Map(
    records.map((record) => {
      const { day, round, lsn, index } = record;
      return [`${day} ${round} ${lsn.epoch} ${lsn.sequence} ${index}`, record];
    }),
  );
  return [...byPlace.values()];
}

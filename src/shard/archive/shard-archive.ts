import { assert } from '../../base/assert.js';
import { messageOf } from '../../base/message-of.js';
import { Slices } from '../../base/slices.js';
import { DAY_MS, dayOf } from '../../base/time.js';
import { type ArchiveMark, newestMark } from '../../wallet/archive-mark.js';
import type { Archivable, Missing } from '../../wallet/archiving.js';
import type { CallbackCommand } from '../../wallet/command.js';
import type { ArchivablePlayer, ArchivedPart } from '../../wallet/query.js';
import { compareLsn, formatLsn, type Lsn } from '../log/lsn.js';
import { isSameHead } from '../log/wal.js';
import {
  ALL_DAYS,
  type ArchivedId,
  type ArchiveName,
  type ArchiveRecord,
  type Days,
  type FreshNames,
  newestMarks,
} from './archive.js';
import { mustReach } from './archive-behind-error.js';
import { hashOfName, hashOfPlayer, hashOfTransaction } from './archive-hash.js';
import { ArchiveOutage, GivenUpError } from './archive-outage.js';
import { DamagedArchiveError } from './damaged-archive-error.js';
import { DroppedDayError } from './dropped-day-error.js';
import { KnownNames, type SkippedSpan } from './known-names.js';
import type { LeftNames } from './left-names.js';
import { logUnusable } from './log-unusable.js';
import { Lookups, type NamedTransaction } from './lookups.js';
import { newestImages } from './newest-images.js';
import type { ShardArchiveDeps } from './shard-archive-deps.js';

export interface ArchiveMeasures {
  /** Of rounds and transactions that the archive has. */
  readonly names: number;
  /** What knowing them takes. */
  readonly bytes: number;
  /** It did not answer when it was asked last. */
  readonly isAway: boolean;
  /** The archive answered, and lacked records that the log relies on. */
  readonly isBehind: boolean;
  /** Names of the archive are not known, and the archive does not answer: no new bet is taken. */
  readonly isUnknown: boolean;
  /** Sets of names that could not be built: what may be in their days is looked up. */
  readonly skipped: number;
}

const INDEXES = 2 ** 16;
/** Of merging, behind each batch of names that is read: as many as keep up, in less than a millisecond. */
const LOAD_STEPS = 16;
/** Names that are learnt between two looks at the clock. */
const NAMES_PER_LOOK = 256;

/** Rounds that the archive has durably. */
export interface Put {
  /** The newest record; undefined where there is none. */
  readonly mark: ArchiveMark | undefined;
  readonly players: readonly ArchivablePlayer[];
}

/** Of a record, without its image. */
type Names = Pick<ArchiveRecord, 'day' | 'player' | 'round' | 'ids'>;

/**
 * One shard's part of the archive: knows what cannot be there without asking, and asks for the rest. An outage is waited
 * out: what waits for it is answered when its deadline passes.
 */
export class ShardArchive {
  private known: KnownNames;
  /** Until all that the archive has is known, whatever is looked for may be there. */
  private isComplete = false;
  /** What was put since the names began to be learnt: what is read of them may be older, and take the place of these. */
  private putMeanwhile: Names[] = [];
  /** Spans that are saved, and cannot be used: of another retention, of another version, or damaged. */
  private unusable: readonly number[] = [];
  private loads = 0;
  /** While the archive answers to the newest load. */
  private reading: (() => boolean) | undefined = undefined;
  /** Names of the log that is followed here, which go on from what is known. */
  private followed: LeftNames | undefined = undefined;
  private looked: Promise<void> = Promise.resolve();
  private writing: Promise<void> = Promise.resolve();
  private readonly outage: ArchiveOutage;
  private readonly lookups: Lookups;
  private putting = 0;
  private lastPut: Lsn | undefined = undefined;
  /** The newest record that was put since the shard came. */
  private newestPut: ArchiveMark | undefined = undefined;
  /** What the next record gets that is put with this `lsn`. */
  private numbered: { readonly lsn: Lsn; next: number } | undefined = undefined;

  constructor(
    private readonly shard: number,
    private readonly deps: ShardArchiveDeps,
  ) {
    this.known = this.newNames();
    this.outage = new ArchiveOutage(shard, deps);
    this.lookups = new Lookups(shard, deps, this.outage, {
      maybeDays: (names) => this.maybeDays(names),
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

  /** Names are not known, and the archive does not tell them: every new bet would wait for it. */
  get isUnknown(): boolean {
    return !this.isComplete && this.reading === undefined;
  }

  /**
   * Learns what the archive has. Again whenever the shard comes from another node, which may have put more. `left`: names of the
   * rounds that left memory in the replayed end of the log. Where they, alone or with the node's file, are proven to be all that there
   * are, the archive is not asked. Resolves when all is known, or when somebody else learns it by now.
   */
  async load(left?: LeftNames): Promise<void> {
    this.forget();
    // What is saved next is as new as what is put next: another node may have had the shard meanwhile.
    this.lastPut = undefined;
    this.newestPut = undefined;
    const number = this.loads;
    const isNewest = () => number === this.loads && !this.outage.isClosed;
    if (left?.isAll === true) {
      this.complete(this.newNames(), left);
      // The archive may be away although its names are known.
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
      await slices.maybeYield();
    }
    if (!isNewest()) return;
    this.complete(known, left);
    if (found === undefined) await this.writeFile();
    else void this.check();
  }

  /** Resolves when the node's file has been read, if there is one that can be believed. Does not reject. */
  get fileRead(): Promise<void> {
    return this.looked;
  }

  /** Another node serves the shard, whose log is read here: keeps the names ready for a take-over. */
  follow(left: LeftNames): void {
    if (this.keepsWith(left)) {
      this.lastPut = undefined;
      this.followed = left;
      learnLeft(this.known, left);
    } else if (this.followed !== left) {
      void this.load(left);
      this.followed = left;
    } else if (!left.isUnbroken) {
      this.forget();
      this.followed = left;
    }
  }

  /**
   * The newest record that the archive must have: of those that the log relies on, and of those that were put from here. Rounds leave
   * memory when their event is decided, and the log relies on their records only when it is durable.
   */
  private get required(): ArchiveMark | undefined {
    return newestMark(this.deps.required(), this.newestPut);
  }

  /** The shard is served here from now on. */
  takeOver(left: LeftNames | undefined): void {
    if (left === undefined || !this.keepsWith(left)) {
      void this.load(left);
      return;
    }
    this.lastPut = undefined;
    this.followed = undefined;
    learnLeft(this.known, left);
    void this.writeFile();
    // The former owner may have had another server at its address.
    void this.check();
  }

  /** The known names and those of `left` are together all names of the archive. */
  private keepsWith(left: LeftNames): boolean {
    if (!this.isComplete || !left.isUnbroken) return false;
    return this.followed === left || (this.followed === undefined && left.followsServed);
  }

  private complete(known: KnownNames, left: LeftNames | undefined): void {
    this.known = known;
    if (left !== undefined) learnLeft(known, left);
    this.putMeanwhile = [];
    this.isComplete = true;
  }

  private newNames(): KnownNames {
    const { retentionMs, hashKey } = this.deps;
    return new KnownNames(Math.ceil(retentionMs / DAY_MS), hashKey, (span) => this.warnOfSkipped(span));
  }

  /**
   * Names of the node's file and of the end of the log, which are all that there are. Undefined where the file proves nothing: it
   * must be of this very log, up to an entry after which no name is missing here.
   */
  private async namesInFile(left: LeftNames): Promise<KnownNames | undefined> {
    const { shard, deps } = this;
    try {
      const found = await deps.names?.read(shard);
      if (found === undefined) return undefined;
      const { head, parts } = found;
      if (!left.isWhole) throw new Error('too many names have left memory since');
      const isOld = compareLsn(head.lsn, left.since.lsn) < 0;
      if (isOld) throw new Error(`it ends at ${formatLsn(head.lsn)}, and the snapshot at ${formatLsn(left.since.lsn)}`);
      if (!isSameHead(head, left.since) && !(await deps.isInLog(head))) {
        throw new Error(`the log does not have its entry ${formatLsn(head.lsn)}`);
      }
      const known = this.newNames();
      if (!known.load(parts)) throw new Error('it was written with another retention, or by another walletd');
      // The archive's saved names may lack some of the file's.
      known.touch();
      return known;
    } catch (error) {
      deps.log.warn(
        { code: 'archive-names-file-unusable', shard, error: messageOf(error) },
        'file of archived names cannot be believed: reading them from the archive',
      );
      return undefined;
    }
  }

  /** Undefined where nobody wants them any more. */
  private async namesInArchive(isNewest: () => boolean): Promise<KnownNames | undefined> {
    try {
      return await this.outage.untilItAnswers(async () => {
        await this.mustReachLog();
        this.reading = isNewest;
        try {
          const known = (await this.loadSaved()) ?? (await this.loadAll(isNewest));
          // Another server may have answered meanwhile.
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
   * Writes the names into the node's file: before a snapshot is published, so that the file never ends before the newest one. Does
   * not reject.
   */
  async writeFile(): Promise<void> {
    const { shard, deps } = this;
    const { names } = deps;
    if (names === undefined) return;
    const write = this.writing.then(async () => {
      // The names are put before the event that takes their rounds out of memory is decided: up to the head they are complete.
      const head = deps.head();
      const parts = this.isComplete && head !== undefined ? this.known.whole() : undefined;
      if (head === undefined || parts === undefined) return;
      try {
        await names.write(shard, head, parts);
      } catch (error) {
        deps.log.warn(
          { code: 'archive-names-file-not-written', shard, error: messageOf(error) },
          'file of archived names cannot be written: a start needs the archive',
        );
      }
    });
    this.writing = write;
    await write;
  }

  /** Throws an `ArchiveBehindError` where the archive lacks what the log relies on: then nothing that it says is believed. */
  private async mustReachLog(): Promise<void> {
    const { required } = this;
    mustReach(this.shard, await this.deps.archive.mark(this.shard), required);
  }

  /** Looks whether the archive has what the log relies on, also while nothing has to be looked up. Does not reject. */
  async check(): Promise<void> {
    await this.outage.ask(() => this.mustReachLog());
  }

  /** Lets go of what it knows: another node has the shard. */
  forget(): void {
    this.loads++;
    this.isComplete = false;
    this.reading = undefined;
    this.followed = undefined;
    this.putMeanwhile = [];
    this.known = this.newNames();
  }

  /**
   * As `loadSavedOrDamaged`, and undefined for damage that cannot be told from what was saved.
   */
  private async loadSaved(): Promise<KnownNames | undefined> {
    try {
      return await this.loadSavedOrDamaged();
    } catch (error) {
      if (!(error instanceof DamagedArchiveError)) throw error;
      return this.cannotBeUsed();
    }
  }

  /**
   * Undefined when nothing was saved, or not all of it can be used. What was put since is read first: the node that had the shard
   * before may be saving just now, and what is fresh no more is in what it has saved by then.
   */
  private async loadSavedOrDamaged(): Promise<KnownNames | undefined> {
    const { archive } = this.deps;
    const known = this.newNames();
    this.unusable = [];
    const fresh: FreshNames[] = [];
    for await (const put of archive.freshNames(this.shard)) {
      if (put === undefined) return this.cannotBeUsed();
      fresh.push(put);
    }
    const saved = await archive.savedNames(this.shard);
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
      { shard: this.shard },
      'what was known of the archive is damaged or old: reading all of it again',
    );
    return undefined;
  }

  private warnOfSkipped({ days, error }: SkippedSpan): void {
    const { shard, deps } = this;
    deps.log.warn(
      { code: 'archive-names-skipped', shard, firstDay: days.first, lastDay: days.last, error: messageOf(error) },
      'set of archived names cannot be built: names of these days are looked up in the archive',
    );
  }

  private async loadAll(isNewest: () => boolean): Promise<KnownNames> {
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

  /** Saves what is known, for the next start. */
  async save(): Promise<void> {
    const { lastPut } = this;
    if (!this.isComplete || this.putting > 0 || lastPut === undefined) return;
    let parts: ReadonlyMap<number, Buffer | undefined> = new Map();
    try {
      parts = this.known.unsaved();
      if (parts.size === 0) return;
      this.known.saved();
      await this.deps.archive.saveNames(this.shard, parts, lastPut);
    } catch (error) {
      // The next saving takes all of it.
      this.known.touch();
      this.known.discard([...parts].flatMap(([number, part]) => (part === undefined ? [number] : [])));
      this.deps.log.warn(
        { shard: this.shard, error: messageOf(error) },
        'what is known of the archive cannot be saved',
      );
    }
  }

  /**
   * Rounds that the archive has of those which these names name; undefined when it cannot have any. Rejects when what it has is
   * damaged, which is logged, and in an outage after `deadlineMs`.
   */
  maybeFind(
    username: string,
    productId: string,
    missing: Missing,
    deadlineMs = Number.POSITIVE_INFINITY,
  ): Promise<ArchivedPart> | undefined {
    const { ids, rewardIds, roundIds } = missing;
    if (ids.length === 0 && rewardIds.length === 0 && roundIds.length === 0) return undefined;
    const player = hashOfPlayer(username);
    if (!this.mayHave(player, productId, missing)) return undefined;
    const rounds = roundIds.map((id): ArchiveName => ({ player, kind: 'round', hash: hashOfName(productId, id) }));
    const named = (id: string, isReward: boolean): NamedTransaction => {
      const hash = isReward ? hashOfReward(productId, id) : hashOfName(productId, id);
      return { id, isReward, name: { player, kind: 'transaction', hash } };
    };
    const transactions = [...ids.map((id) => named(id, false)), ...rewardIds.map((id) => named(id, true))];
    const days = this.maybeDays([...rounds, ...transactions.map(({ name }) => name)]);
    assert(days !== undefined, 'what may be there is in some days');
    return this.lookups.add({ username, player, productId, rounds, roundIds, transactions, days, deadlineMs });
  }

  /**
   * Rounds of a player in which there are the newest `limit` transactions that `version` or older ones made. Rejects when one
   * is damaged, which is logged, and in an outage when nobody wants it any more.
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
      return { images: newestImages(username, records), downTo };
    } catch (error) {
      if (!(error instanceof GivenUpError)) logUnusable(log, this.shard, player, error);
      throw error;
    }
  }

  /**
   * Resolves when the archive has these rounds durably, but for those of days that have been dropped since: they stay in memory until
   * they are forgotten. `lsn`: an entry that is durable, and not before what they are of.
   */
  async put(lsn: Lsn, leaving: readonly ArchivablePlayer[]): Promise<Put> {
    let records: ArchiveRecord[] = [];
    let firstDay = 0;
    for (const { username, rounds } of leaving) {
      const player = hashOfPlayer(username);
      for (const round of rounds) records.push(this.recordOf(lsn, player, round, this.nextIndex(lsn)));
    }
    this.putting++;
    await this.outage.untilItTakes(async () => {
      // After a failover to a replica that lagged nothing is put, or its mark would hide what it lacks.
      const put = () => this.deps.archive.put(records, this.required);
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

  /** A slice of the work that keeps it small. False when there is nothing to be done. */
  work(): boolean {
    return this.known.work();
  }

  close(): void {
    this.outage.isClosed = true;
  }

  /**
   * Counted over several puts: a round can change in the very entry that made the image of it durable, so that the next image,
   * the one to be found, is put with the same `lsn`.
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

  /** False when it has none of the bets and rounds that this names: then nothing has to be looked up. */
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

  /** False for nearly all that is new: every callback that names something new comes here, so nothing is made for it. */
  private mayHave(player: number, productId: string, { ids, rewardIds, roundIds }: Missing): boolean {
    if (!this.isComplete) return true;
    const { known } = this;
    for (const id of roundIds) if (known.mayHave(player, 'round', hashOfName(productId, id))) return true;
    for (const id of ids) if (known.mayHave(player, 'transaction', hashOfName(productId, id))) return true;
    for (const id of rewardIds) if (known.mayHave(player, 'transaction', hashOfReward(productId, id))) return true;
    return false;
  }

  /** Undefined when the archive cannot have any of these. */
  private maybeDays(names: readonly ArchiveName[]): Days | undefined {
    return this.isComplete ? this.known.maybeDays(names) : ALL_DAYS;
  }
}

/** Rounds of this day and later ones. */
function keptOf(players: readonly ArchivablePlayer[], firstDay: number): ArchivablePlayer[] {
  return players.flatMap(({ username, rounds }) => {
    const kept = rounds.filter(({ updatedMs }) => dayOf(updatedMs) >= firstDay);
    return kept.length === 0 ? [] : [{ username, rounds: kept }];
  });
}

async function learn(known: KnownNames, day: number, names: readonly ArchiveName[], slices: Slices): Promise<void> {
  for (const [i, { player, kind, hash }] of names.entries()) {
    known.add(day, player, kind, hash);
    if (i % NAMES_PER_LOOK === 0) await slices.maybeYield();
  }
  for (let steps = 0; steps < LOAD_STEPS && known.work(); steps++);
}

function know(known: KnownNames, { day, player, round, ids }: Names): void {
  known.add(day, player, 'round', round);
  for (const { id } of ids) known.add(day, player, 'transaction', id);
}

function learnLeft(known: KnownNames, left: LeftNames): void {
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

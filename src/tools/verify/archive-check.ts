import { crc32 } from 'node:zlib';
import { hashOfName, hashOfPlayer, hashOfTransaction } from '../../archive/archive-hash.js';
import { AssertionFailure, assert, must } from '../../base/assert.js';
import { dayOf } from '../../base/time.js';
import { type ArchiveRecord, compareAge } from '../../ports/archive.js';
import { ArchiveBehindError, mustReach } from '../../ports/archive-behind-error.js';
import { DamagedArchiveError } from '../../ports/damaged-archive-error.js';
import { compareLsn, formatLsn, type Lsn } from '../../ports/lsn.js';
import type { Entry } from '../../ports/wal.js';
import type { ArchiveMark } from '../../wallet/archive-mark.js';
import type { Event } from '../../wallet/event.js';
import { addSerializedRound, nameOfSerialized, serializeRound } from '../../wallet/state/serialized-round.js';
import { Tables } from '../../wallet/state/tables.js';
import { Wallet } from '../../wallet/state/wallet.js';
import { requiredAfter } from '../required-mark.js';
import { type StoreReader, ToolError } from '../store-reader.js';
import type { Findings } from './findings.js';

interface Gone {
  readonly username: string;
  readonly roundId: string;
  /** The entry in which the round left its wallet. */
  readonly lsn: Lsn;
  readonly checksum: number;
  readonly day: number;
}

/**
 * Checks the archive of one shard. Each archived round is checked on its own. Rounds that leave memory in the replayed
 * part of the log are also compared byte by byte.
 */
export class ArchiveCheck {
  /** Number of rounds that were read. A round that returned to memory and left again is counted each time. */
  rounds = 0;
  private readonly gone = new Map<string, Gone>();
  /** The newest record of each round in `gone`. */
  private readonly found = new Map<string, { readonly lsn: Lsn; readonly index: number; readonly checksum: number }>();
  private readonly tables = new Tables();
  /** The newest archive record on which the log relies. */
  required: ArchiveMark | undefined = undefined;
  /** The newest record that the archive has ever contained. */
  mark: ArchiveMark | undefined = undefined;
  /** The newest fence with which an operator accepted that rounds archived before it are missing. */
  private acceptedAt: Lsn | undefined = undefined;
  /** Number of missing or different rounds whose loss was accepted. */
  private acceptedRounds = 0;

  constructor(
    private readonly shard: number,
    private readonly reader: Pick<StoreReader, 'archive' | 'shardOf' | 'yieldTurn'>,
    private readonly findings: Findings,
  ) {}

  /** Sentences about accepted losses, one per loss. */
  get accepted(): readonly string[] {
    const { acceptedRounds, acceptedAt, shard } = this;
    if (acceptedAt === undefined || acceptedRounds === 0) return [];
    const at = formatLsn(acceptedAt);
    return [
      `shard ${shard}: ${acceptedRounds} rounds that had left memory are not in the archive; the loss was accepted at ${at}`,
    ];
  }

  /** Records an entry, whether or not its events are applied. */
  note({ lsn, owner, events }: Pick<Entry, 'lsn' | 'owner' | 'events'>): void {
    if (owner?.acceptsArchiveLoss) this.acceptedAt = lsn;
    this.required = requiredAfter(this.required, events);
  }

  /** Records an event. Must be called before the event is applied. */
  take(wallet: Wallet, event: Event, lsn: Lsn): void {
    const { username } = event;
    if (event.type === 'rounds-archived') {
      for (const { productId, roundId } of event.rounds) {
        const round = must(wallet.round(productId, roundId), 'a round that goes is there');
        const day = dayOf(Math.max(...round.members().map(({ updatedMs }) => updatedMs)));
        const checksum = crc32(serializeRound(wallet, round));
        this.gone.set(keyOf(username, productId, roundId), { username, roundId, lsn, checksum, day });
      }
    } else if (event.type === 'rounds-restored') {
      for (const image of event.images) {
        const { productId, roundId } = nameOfSerialized(image);
        const key = keyOf(username, productId, roundId);
        const gone = this.gone.get(key);
        if (gone !== undefined && gone.checksum !== crc32(image)) {
          this.add(`round ${roundId} of ${username} came back in entry ${formatLsn(lsn)} with different content`);
        }
        this.gone.delete(key);
      }
    }
  }

  /**
   * Reads the complete archive of the shard. `isWhole` is true if the log was replayed to its end, which was `head` at
   * the time.
   */
  async finish(isWhole: boolean, head: Lsn): Promise<void> {
    const { archive, yieldTurn } = this.reader;
    if (archive === undefined) {
      if (this.gone.size > 0 || this.required !== undefined) {
        throw new ToolError(
          `rounds of shard ${this.shard} are in an archive: set WALLETD_ARCHIVE, or bring the archive's folder back`,
        );
      }
      return;
    }
    this.checkMark(await archive.mark(this.shard));
    const days = await archive.days();
    for (const day of days) {
      try {
        for await (const records of archive.all(this.shard, day)) {
          for (const record of records) this.check(record, head);
          await yieldTurn();
        }
      } catch (error) {
        if (!(error instanceof DamagedArchiveError)) throw error;
        this.add(error.message);
      }
    }
    if (isWhole) this.compare(days[0] ?? Number.NEGATIVE_INFINITY);
  }

  /** The log was read before the archive, so the archive must already contain every record on which the log relies. */
  checkMark(mark: ArchiveMark | undefined): void {
    this.mark = mark;
    try {
      mustReach(this.shard, mark, this.required);
    } catch (error) {
      if (!(error instanceof ArchiveBehindError)) throw error;
      this.findings.add('archive', error.message);
    }
  }

  /**
   * Checks that each round that left memory is in the archive. Must be called after all records have been checked. Days
   * before the oldest kept one have been dropped.
   */
  compare(oldestDay: number): void {
    for (const [key, { username, roundId, lsn, checksum, day }] of this.gone) {
      const found = this.found.get(key);
      if (found?.checksum === checksum || (found === undefined && day < oldestDay)) continue;
      if (this.acceptedAt !== undefined && compareLsn(lsn, this.acceptedAt) < 0) {
        this.acceptedRounds++;
        continue;
      }
      const what = `round ${roundId} of ${username}, which left the wallet in entry ${formatLsn(lsn)},`;
      this.add(`${what} is ${found === undefined ? 'not' : 'another one'} in the archive`);
    }
  }

  /**
   * Checks one record. A record that was put after `head` is not compared with the log, because the shard is being
   * served and the log was read before that put.
   */
  check(record: ArchiveRecord, head?: Lsn): void {
    this.rounds++;
    try {
      const { username, productId, roundId } = nameOfSerialized(record.image);
      this.checkRound(record, username, productId, roundId);
      if (head !== undefined && compareLsn(record.lsn, head) > 0) return;
      const key = keyOf(username, productId, roundId);
      const known = this.found.get(key);
      if (!this.gone.has(key) || (known !== undefined && compareAge(known, record) > 0)) return;
      this.found.set(key, { lsn: record.lsn, index: record.index, checksum: crc32(record.image) });
    } catch (error) {
      if (!(error instanceof AssertionFailure || error instanceof RangeError)) throw error;
      const { player, round, lsn, day } = record;
      const place = `day ${day}, player ${player}, round ${round}, entry ${formatLsn(lsn)}`;
      this.add(`a round in the archive (${place}) contradicts itself: ${error.message}`);
    }
  }

  private checkRound(record: ArchiveRecord, username: string, productId: string, roundId: string): void {
    const { shard, day, player, round, ids, image } = record;
    assert(this.reader.shardOf(username) === shard, 'it belongs to a player of a different shard');
    assert(player === hashOfPlayer(username) && round === hashOfName(productId, roundId), 'it has a different name');
    const copy = Wallet.begin(this.tables.copyToWorkOn(), 'XXX', username);
    const members = addSerializedRound(copy, image);
    assert(copy.openBets === 0, 'no part of it is open');
    assert(dayOf(Math.max(...members.map(({ updatedMs }) => updatedMs))) === day, 'it belongs to a different day');
    const named = members.filter(({ kind }) => kind !== 'mark');
    const isSame = ids.length === named.length && named.every((item, i) => isNamed(ids[i], item, productId, roundId));
    assert(isSame, 'its keys belong to other ids');
    for (const { held, paid, payout, stake } of members) {
      assert(held >= 0 && paid >= 0 && paid <= (payout ?? stake), 'no more is paid than was to be paid');
    }
  }

  private add(message: string): void {
    this.findings.add('archive', `shard ${this.shard}: ${message}`);
  }
}

function isNamed(
  archived: ArchiveRecord['ids'][number] | undefined,
  { kind, id }: { readonly kind: Parameters<typeof hashOfTransaction>[0]; readonly id: string },
  productId: string,
  roundId: string,
): boolean {
  return archived?.id === hashOfTransaction(kind, productId, roundId, id);
}

function keyOf(...names: string[]): string {
  return JSON.stringify(names);
}

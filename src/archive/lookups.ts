import type { ArchiveKey, ArchiveRecord, Days } from '../ports/archive.js';
import type { ArchiveMark } from '../wallet/archive-mark.js';
import type { ArchivedPart } from '../wallet/query.js';
import { idsOfSerialized, nameOfSerialized } from '../wallet/state/serialized-round.js';
import { type ArchiveOutage, GivenUpError } from './archive-outage.js';
import { logUnusable } from './log-unusable.js';
import { newestSerialized } from './newest-serialized.js';
import type { ShardArchiveDeps } from './shard-archive-deps.js';

/** Maximum number of lookups in one query. With LMDB, each lookup takes about ten microseconds of the thread's time. */
const LOOKUPS_MAX = 64;

/** A request's ids that may be in the archive. */
export interface Lookup {
  readonly username: string;
  readonly player: number;
  readonly productId: string;
  readonly rounds: readonly ArchiveKey[];
  /** The ids of `rounds`, in the same order. */
  readonly roundIds: readonly string[];
  readonly transactions: readonly NamedTransaction[];
  readonly days: Days;
  /** Deadline on the monotonic clock. At this time, the request stops waiting. */
  readonly deadlineMs: number;
}

export interface NamedTransaction {
  readonly id: string;
  readonly isReward: boolean;
  readonly name: ArchiveKey;
}

/** A lookup with a request that waits for the archive's answer. */
interface Waiting extends Lookup {
  readonly startedMs: number;
  readonly resolve: (found: ArchivedPart) => void;
  readonly reject: (error: unknown) => void;
}

/** The shard's knowledge about its part of the archive. */
interface Known {
  /** The days that may contain one of these keys; undefined if the archive certainly has none of them. */
  findDays(names: readonly ArchiveKey[]): Days | undefined;
  /** The newest record that the archive must have. */
  required(): ArchiveMark | undefined;
}

/** Pending archive lookups of one shard. Lookups that are requested together are combined into one query. */
export class Lookups {
  private waiting: Waiting[] = [];
  private isFlying = false;

  constructor(
    private readonly shard: number,
    private readonly deps: ShardArchiveDeps,
    private readonly outage: ArchiveOutage,
    private readonly known: Known,
  ) {}

  /**
   * Resolves with the records found. Rejects if the archive's answer is unavailable; the request can then not be
   * decided.
   */
  add(lookup: Lookup): Promise<ArchivedPart> {
    const startedMs = this.deps.clock.monotonicMs();
    return new Promise((resolve, reject) => {
      this.waiting.push({ ...lookup, startedMs, resolve, reject });
      if (this.waiting.length === 1 && !this.isFlying) this.deps.defer(() => void this.fly());
    });
  }

  private async fly(): Promise<void> {
    this.isFlying = true;
    while (this.waiting.length > 0 && !this.outage.isClosed) await this.answer(this.waiting.splice(0, LOOKUPS_MAX));
    this.isFlying = false;
  }

  /**
   * Answers all lookups of the batch and does not reject. If the batch fails, retries its lookups one by one, so that
   * only requests that name damaged records are refused.
   */
  private async answer(flying: readonly Waiting[]): Promise<void> {
    try {
      if (!this.isWanted(flying)) throw new GivenUpError('no request waits for it any longer');
      const records = await this.look(flying);
      const found = flying.map((lookup) => namedImages(lookup, records));
      const nowMs = this.deps.clock.monotonicMs();
      for (const [i, images] of found.entries()) {
        const { startedMs, resolve } = flying[i] as Waiting;
        this.deps.observer.looked(this.shard, images.length > 0, nowMs - startedMs);
        resolve({ images, downTo: 0 });
      }
    } catch (error) {
      const [first] = flying;
      if (flying.length > 1) for (const one of flying) await this.answer([one]);
      else if (first !== undefined) this.refuse(first, error);
    }
  }

  private refuse({ player, reject }: Waiting, error: unknown): void {
    reject(error);
    if (!(error instanceof GivenUpError)) logUnusable(this.deps.log, this.shard, player, error);
  }

  private isWanted(flying: readonly Waiting[]): boolean {
    const nowMs = this.deps.clock.monotonicMs();
    return flying.some(({ deadlineMs }) => deadlineMs > nowMs);
  }

  /**
   * Searches by round first, because a transaction is nearly always in the round named along with it. For the remaining
   * transactions, searches all of the player's rounds.
   */
  private async look(flying: readonly Waiting[]): Promise<readonly ArchiveRecord[]> {
    const { archive } = this.deps;
    const days = {
      first: Math.min(...flying.map(({ days }) => days.first)),
      last: Math.max(...flying.map(({ days }) => days.last)),
    };
    const isWanted = () => this.isWanted(flying);
    const find = (names: readonly ArchiveKey[]) =>
      names.length === 0
        ? []
        : this.outage.untilItAnswers(() => archive.find(this.shard, names, days, this.known.required()), isWanted);
    const records = await find(flying.flatMap(({ rounds }) => rounds));
    const missing = flying.flatMap((lookup) => this.missing(lookup, records));
    return missing.length === 0 ? records : [...records, ...(await find(missing))];
  }

  /** Keys of transactions that may be in the archive but are not in these records. */
  private missing({ username, productId, transactions }: Lookup, records: readonly ArchiveRecord[]): ArchiveKey[] {
    if (transactions.length === 0) return [];
    const there = new Set<string>();
    const rewardsThere = new Set<string>();
    for (const image of newestSerialized(username, records)) {
      if (nameOfSerialized(image).productId !== productId) continue;
      const { ids, rewardIds } = idsOfSerialized(image);
      for (const id of ids) there.add(id);
      for (const id of rewardIds) rewardsThere.add(id);
    }
    return transactions
      .filter(
        ({ id, isReward, name }) =>
          !(isReward ? rewardsThere : there).has(id) && this.known.findDays([name]) !== undefined,
      )
      .map(({ name }) => name);
  }
}

/**
 * The newest version of each serialized round that the lookup names. The archive finds rounds by a stored, unkeyed
 * hash, for which an attacker can compute colliding ids. Without this filter, one bet in such a round would restore 800
 * rounds to memory.
 */
function namedImages(lookup: Lookup, records: readonly ArchiveRecord[]): readonly Buffer[] {
  const { username, productId, roundIds, transactions } = lookup;
  return newestSerialized(username, records).filter((image) => {
    const name = nameOfSerialized(image);
    if (name.productId !== productId) return false;
    if (roundIds.includes(name.roundId)) return true;
    const { ids, rewardIds } = idsOfSerialized(image);
    return transactions.some(({ id, isReward }) => (isReward ? rewardIds : ids).has(id));
  });
}

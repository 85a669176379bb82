import type { ArchiveMark } from '../../wallet/archive-mark.js';
import type { ArchivedPart } from '../../wallet/query.js';
import { idsOfImage, nameOfImage } from '../../wallet/state/round-image.js';
import type { ArchiveName, ArchiveRecord, Days } from './archive.js';
import { type ArchiveOutage, GivenUpError } from './archive-outage.js';
import { logUnusable } from './log-unusable.js';
import { newestImages } from './newest-images.js';
import type { ShardArchiveDeps } from './shard-archive-deps.js';

/** Lookups that go out together: in LMDB each takes some ten microseconds of the thread. */
const LOOKUPS_MAX = 64;

/** What a request names that may be in the archive. */
export interface Lookup {
  readonly username: string;
  readonly player: number;
  readonly productId: string;
  readonly rounds: readonly ArchiveName[];
  /** Ids of `rounds`. */
  readonly roundIds: readonly string[];
  readonly transactions: readonly NamedTransaction[];
  readonly days: Days;
  /** Of the monotonic clock: nobody waits for it then. */
  readonly deadlineMs: number;
}

export interface NamedTransaction {
  readonly id: string;
  readonly isReward: boolean;
  readonly name: ArchiveName;
}

/** A request that waits until it is known what the archive has. */
interface Waiting extends Lookup {
  readonly startedMs: number;
  readonly resolve: (found: ArchivedPart) => void;
  readonly reject: (error: unknown) => void;
}

/** The shard's own knowledge of its part of the archive. */
interface Known {
  /** Undefined when the archive cannot have any of these. */
  maybeDays(names: readonly ArchiveName[]): Days | undefined;
  /** The newest record that the archive must have. */
  required(): ArchiveMark | undefined;
}

/** What requests of one shard wait for from the archive: all that one turn wants is asked at once. */
export class Lookups {
  private waiting: Waiting[] = [];
  private isFlying = false;

  constructor(
    private readonly shard: number,
    private readonly deps: ShardArchiveDeps,
    private readonly outage: ArchiveOutage,
    private readonly known: Known,
  ) {}

  /** Rejects when it cannot be told what the archive has: then nothing can be decided. */
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

  /** Does not reject. When it meets something, each is looked up by itself, so that only those are refused that name it. */
  private async answer(flying: readonly Waiting[]): Promise<void> {
    try {
      if (!this.isWanted(flying)) throw new GivenUpError('nobody waits for it any more');
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
   * By their rounds first. What an id names is in the round that is named beside it, nearly always; for one that is not, all
   * rounds of the player are gone through.
   */
  private async look(flying: readonly Waiting[]): Promise<readonly ArchiveRecord[]> {
    const { archive } = this.deps;
    const days = {
      first: Math.min(...flying.map(({ days }) => days.first)),
      last: Math.max(...flying.map(({ days }) => days.last)),
    };
    const isWanted = () => this.isWanted(flying);
    const find = (names: readonly ArchiveName[]) =>
      names.length === 0
        ? []
        : this.outage.untilItAnswers(() => archive.find(this.shard, names, days, this.known.required()), isWanted);
    const records = await find(flying.flatMap(({ rounds }) => rounds));
    const missing = flying.flatMap((lookup) => this.missing(lookup, records));
    return missing.length === 0 ? records : [...records, ...(await find(missing))];
  }

  /** What is not in these records, and can be in the archive. */
  private missing({ username, productId, transactions }: Lookup, records: readonly ArchiveRecord[]): ArchiveName[] {
    if (transactions.length === 0) return [];
    const there = new Set<string>();
    const rewardsThere = new Set<string>();
    for (const image of newestImages(username, records)) {
      if (nameOfImage(image).productId !== productId) continue;
      const { ids, rewardIds } = idsOfImage(image);
      for (const id of ids) there.add(id);
      for (const id of rewardIds) rewardsThere.add(id);
    }
    return transactions
      .filter(
        ({ id, isReward, name }) =>
          !(isReward ? rewardsThere : there).has(id) && this.known.maybeDays([name]) !== undefined,
      )
      .map(({ name }) => name);
  }
}

/**
 * Newest images of the rounds that the lookup names. An archive finds rounds by a stored hash without a key: 800 rounds with computed
 * ids would come back to memory for one bet in one of them.
 */
function namedImages(lookup: Lookup, records: readonly ArchiveRecord[]): readonly Buffer[] {
  const { username, productId, roundIds, transactions } = lookup;
  return newestImages(username, records).filter((image) => {
    const name = nameOfImage(image);
    if (name.productId !== productId) return false;
    if (roundIds.includes(name.roundId)) return true;
    const { ids, rewardIds } = idsOfImage(image);
    return transactions.some(({ id, isReward }) => (isReward ? rewardIds : ids).has(id));
  });
}

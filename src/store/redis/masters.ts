import type { Master } from './master.js';
import type { Redirect } from './redirect.js';

/**
 * The masters of a store and their shards. Each shard is entirely on one master. The master with the meta record is
 * called home.
 */
export interface Masters {
  /** All masters that hold a part of the store now. Rejects during an outage. */
  all(): Promise<readonly Master[]>;
  home(): Promise<Master>;
  of(shard: number): Promise<Master>;
  /** Append queue of the shard's master; an arbitrary queue while the master is unknown. */
  appendQueueOf(shard: number): number;
  /** The target of an `ask` redirect; undefined if there is none. Remembers the target of a `moved` redirect. */
  redirectTarget(redirect: Redirect, by: Master): Master | undefined;
  /** Reports that a master does not answer: another server may have taken its place. */
  doubt(): void;
  /** Masters created so far. */
  readonly known: readonly Master[];
  /** True if one call can address any two of the store's shards. */
  readonly isOne: boolean;
  close(): void;
}

/** A fixed list of masters, possibly behind sentinels. Shards are assigned round-robin. */
export class FixedMasters implements Masters {
  readonly isOne: boolean;
  /**
   * The first master by name, which is the home regardless of the order of the masters in the address. With an address
   * in a different order, the meta record is therefore found, and the address is refused.
   */
  private readonly first: Master;

  constructor(readonly known: readonly [Master, ...Master[]]) {
    this.isOne = known.length === 1;
    this.first = known.reduce((first, other) => (other.name < first.name ? other : first));
  }

  async all(): Promise<readonly Master[]> {
    return this.known;
  }

  async home(): Promise<Master> {
    return this.first;
  }

  async of(shard: number): Promise<Master> {
    return this.at(shard);
  }

  appendQueueOf(shard: number): number {
    return this.at(shard).appendQueue;
  }

  redirectTarget(): undefined {}

  doubt(): void {}

  close(): void {
    for (const master of this.known) master.close();
  }

  private at(shard: number): Master {
    return this.known[shard % this.known.length] as Master;
  }
}

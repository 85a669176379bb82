import type { Master } from './master.js';
import type { Redirect } from './redirect.js';

/** The masters of a store and their shards. Each shard is completely on one master; the meta record is on the home. */
export interface Masters {
  /** All masters that have a part of the store now. Rejects during an outage. */
  all(): Promise<readonly Master[]>;
  home(): Promise<Master>;
  of(shard: number): Promise<Master>;
  /** The append queue of its master; any queue while the master is unknown. */
  appendQueueOf(shard: number): number;
  /** The target of an `ask` redirect; also notes the target of `moved`. Undefined if there is no target. */
  redirectTarget(redirect: Redirect, by: Master): Master | undefined;
  /** Notes that a master does not answer: another server may have taken its place. */
  doubt(): void;
  /** Masters created so far. */
  readonly known: readonly Master[];
  /** True when one call can address any two of its shards. */
  readonly isOne: boolean;
  close(): void;
}

/** A fixed list of masters, possibly behind sentinels: shards are assigned in turn. */
export class FixedMasters implements Masters {
  readonly isOne: boolean;
  /** The first master by name: it detects an address with the masters in another order. */
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
    return this.at(shard).lane;
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

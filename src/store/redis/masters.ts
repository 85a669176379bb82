import type { Master } from './master.js';
import type { Redirect } from './redirect.js';

/** The masters of a store, and what is where. A shard is on one of them as a whole; the meta record is on the home. */
export interface Masters {
  /** All that have a part of the store now. Rejects during an outage. */
  all(): Promise<readonly Master[]>;
  home(): Promise<Master>;
  of(shard: number): Promise<Master>;
  /** The lane of its master; that of any while it is unknown. */
  laneOf(shard: number): number;
  /** Where `ask` leads; and notes where `moved` does. Undefined where nobody can be redirected. */
  maybeRedirected(redirect: Redirect, by: Master): Master | undefined;
  /** One of them does not answer: perhaps another one has its place. */
  doubt(): void;
  /** Masters that were made so far. */
  readonly known: readonly Master[];
  /** True when one call can be about any two of its shards. */
  readonly isOne: boolean;
  close(): void;
}

/** Masters that stay, each perhaps by way of sentinels: shard after shard in turn. */
export class FixedMasters implements Masters {
  readonly isOne: boolean;
  /** The first by name: an address that names them in another order is found out there. */
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

  laneOf(shard: number): number {
    return this.at(shard).lane;
  }

  maybeRedirected(): undefined {}

  doubt(): void {}

  close(): void {
    for (const master of this.known) master.close();
  }

  private at(shard: number): Master {
    return this.known[shard % this.known.length] as Master;
  }
}

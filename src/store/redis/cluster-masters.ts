import calculateSlot from 'cluster-key-slot';
import type { RedisOptions } from 'ioredis';
import { OutageError } from '../../base/outage-error.js';
import type { Keys } from './keys.js';
import type { Master } from './master.js';
import type { Masters } from './masters.js';
import type { Redirect, ServerPlace } from './redirect.js';
import { RedisConnection } from './redis-connection.js';
import { parseInfo } from './server-check.js';
import { type SlotRange, slotRangesOf } from './slot-ranges.js';

const SLOTS = 16_384;
const REFRESH_MS = 10_000;
/** Minimum interval between two refreshes that were requested by `doubt`. */
const DOUBT_MS = 200;
const COMMAND_TIMEOUT_MS = 2000;

export interface ClusterDeps {
  /** Servers named by the address, which are queried first. */
  readonly seeds: readonly RedisOptions[];
  readonly keys: Keys;
  readonly newMaster: (name: string, queue: number, place: ServerPlace) => Master;
}

/**
 * The masters of a Redis Cluster, as its servers report them. Runs `CLUSTER SLOTS` every 10 s, and whenever a master
 * does not answer or no longer has its slots.
 */
export class ClusterMasters implements Masters {
  readonly isOne = false;
  /** Masters by slot; undefined for a slot without a master. */
  private bySlot: (Master | undefined)[] | undefined = undefined;
  private readonly byName = new Map<string, Master>();
  private queues = 0;
  private refreshing: Promise<void> | undefined = undefined;
  private refreshedMs = Number.NEGATIVE_INFINITY;
  private readonly timer: NodeJS.Timeout;
  /** Connections to servers that have answered a query for slots. */
  private readonly informants = new Map<string, RedisConnection>();
  private isClosed = false;

  constructor(private readonly deps: ClusterDeps) {
    this.timer = setInterval(() => this.doubt(), REFRESH_MS).unref();
  }

  get known(): readonly Master[] {
    return [...this.byName.values()];
  }

  async all(): Promise<readonly Master[]> {
    return [...new Set((await this.slots()).filter((master) => master !== undefined))];
  }

  async home(): Promise<Master> {
    return await this.at(this.deps.keys.meta);
  }

  async of(shard: number): Promise<Master> {
    return await this.at(this.deps.keys.head(shard));
  }

  appendQueueOf(shard: number): number {
    return this.bySlot?.[calculateSlot(this.deps.keys.head(shard))]?.appendQueue ?? 0;
  }

  redirectTarget(redirect: Redirect, by: Master): Master | undefined {
    if (redirect.type === 'again') return undefined;
    const { slot, to } = redirect;
    const master = this.masterAt({ host: to.host || hostOf(by), port: to.port });
    if (redirect.type === 'moved') {
      if (this.bySlot !== undefined) this.bySlot[slot] = master;
      this.doubt();
    }
    return master;
  }

  doubt(): void {
    if (performance.now() - this.refreshedMs < DOUBT_MS || this.isClosed) return;
    this.refresh().catch(() => {});
  }

  close(): void {
    this.isClosed = true;
    clearInterval(this.timer);
    for (const connection of this.informants.values()) connection.close();
    for (const master of this.byName.values()) master.close();
  }

  private async at(key: string): Promise<Master> {
    const slot = calculateSlot(key);
    const master = (await this.slots())[slot];
    if (master !== undefined) return master;
    this.doubt();
    throw new OutageError(`no master of the Redis Cluster currently serves slot ${slot} (${key})`);
  }

  private async slots(): Promise<readonly (Master | undefined)[]> {
    if (this.bySlot === undefined) await this.refresh();
    return this.bySlot ?? [];
  }

  /** Refreshes the slots, one refresh at a time. Rejects if no server answers. */
  private refresh(): Promise<void> {
    this.refreshedMs = performance.now();
    this.refreshing ??= this.askAround().finally(() => {
      this.refreshing = undefined;
    });
    return this.refreshing;
  }

  private async askAround(): Promise<void> {
    let last: unknown = new OutageError('no server of the Redis Cluster is known');
    let second: readonly SlotRange[] | undefined;
    for (const place of this.places()) {
      try {
        const { ranges, isCutOff } = await this.ask(place);
        if (!isCutOff) return this.take(ranges);
        second ??= ranges;
      } catch (error) {
        last = error;
      }
    }
    if (second === undefined) throw last;
    this.take(second);
  }

  /** Servers to query: first the connected ones, then the masters, then the seeds. */
  private places(): readonly ServerPlace[] {
    const seeds = this.deps.seeds.map(({ host = '', port = 0 }) => nameOf({ host, port }));
    return [...new Set([...this.informants.keys(), ...this.byName.keys(), ...seeds])].map(placeOf);
  }

  /**
   * Queries a server for the slots, and for whether the server itself is cut off. A former master that is cut off from
   * the other servers keeps reporting the old slots.
   */
  private async ask(place: ServerPlace): Promise<{ ranges: readonly SlotRange[]; isCutOff: boolean }> {
    const connection = this.connectionTo(place);
    try {
      const [slots, info] = await connection.use((client) =>
        Promise.all([client.call('CLUSTER', 'SLOTS'), client.call('CLUSTER', 'INFO') as Promise<string>]),
      );
      const ranges = slotRangesOf(slots, place.host);
      if (ranges.length === 0) throw new OutageError(`${nameOf(place)} knows no slots: it has not joined its cluster`);
      return { ranges, isCutOff: parseInfo(info).get('cluster_state') !== 'ok' };
    } catch (error) {
      connection.close();
      this.informants.delete(nameOf(place));
      throw error;
    }
  }

  private connectionTo(place: ServerPlace): RedisConnection {
    const name = nameOf(place);
    const known = this.informants.get(name);
    if (known !== undefined) return known;
    const connection = new RedisConnection({ ...this.deps.seeds[0], ...place }, async () => {}, COMMAND_TIMEOUT_MS);
    this.informants.set(name, connection);
    return connection;
  }

  private take(ranges: readonly SlotRange[]): void {
    if (this.isClosed) return;
    const bySlot = new Array<Master | undefined>(SLOTS).fill(undefined);
    const named = new Set<string>();
    for (const { first, last, master } of ranges) {
      named.add(nameOf(master));
      bySlot.fill(this.masterAt(master), first, last + 1);
    }
    this.bySlot = bySlot;
    for (const [name, master] of this.byName) {
      if (named.has(name)) continue;
      this.byName.delete(name);
      master.close();
    }
  }

  private masterAt(place: ServerPlace): Master {
    const name = nameOf(place);
    const known = this.byName.get(name);
    if (known !== undefined) return known;
    const master = this.deps.newMaster(name, this.queues++, place);
    this.byName.set(name, master);
    return master;
  }
}

function nameOf({ host, port }: ServerPlace): string {
  return `${host}:${port}`;
}

function placeOf(name: string): ServerPlace {
  const colon = name.lastIndexOf(':');
  return { host: name.slice(0, colon), port: Number(name.slice(colon + 1)) };
}

function hostOf({ name }: Master): string {
  return placeOf(name).host;
}

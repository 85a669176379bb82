import { OverdueError } from '../../src/log/timely-append.js';
import { compareLsn, type Lsn } from '../../src/ports/lsn.js';
import type { SnapshotStore, StoredSnapshot } from '../../src/ports/snapshot-store.js';
import {
  type Append,
  type AppendOutcome,
  appendOf,
  type EncodedEntry,
  type Head,
  isSameHead,
  type MakeFence,
  type Wal,
} from '../../src/ports/wal.js';
import { genesisHead } from '../../src/store/format/entry-codec.js';
import { MemorySnapshots } from '../support/memory-snapshots.js';
import { OwnersSnapshots } from '../support/owners-snapshots.js';
import type { Random } from './random.js';
import type { SimulatedProcess } from './simulated-process.js';
import type { VirtualTime } from './virtual-time.js';

/** One shard's data on its master. */
interface Stored {
  head: Head;
  /** Entries that have not been trimmed. */
  entries: EncodedEntry[];
  /** Trimmed entries, kept for a check at the end. */
  readonly trimmed: EncodedEntry[];
  readonly snapshots: MemorySnapshots;
  /** The sequence number of the newest entry that the replicas also have. */
  replicated: number;
}

interface Server {
  /** Number of failovers so far. Calls sent to an earlier master are lost. */
  life: number;
  isAway: boolean;
  /** The factor by which the server is slower than normal. */
  slowness: number;
}

export interface StoreFaults {
  /**
   * Probabilities for each call that the request is lost, that the answer is lost, and that the request arrives long
   * after its sender has given up.
   */
  readonly requestLost: number;
  readonly answerLost: number;
  readonly late: number;
}

export const NO_FAULTS: StoreFaults = { requestLost: 0, answerLost: 0, late: 0 };

/** Maximum time that a sender waits. */
const TIMEOUT_MS = 2000;
const FAILOVER_MS = 2000;
const LATE_MS = 5000;
/** Without a slow server. */
const REPLICATION_MS_MAX = 1;

/**
 * The store as several Redis masters, each with replicas. If answers wait for the replicas, a failover loses only
 * unanswered writes. If they do not, the replicas lag, and a failover also loses answered writes.
 */
export class SimulatedStore {
  private readonly shards: Stored[];
  private readonly servers: Server[];
  faults = NO_FAULTS;
  /** Hook for tests that wait for an append to be sent. */
  onAppend: (append: Append) => void = () => {};

  constructor(
    readonly storeId: string,
    readonly shardCount: number,
    serverCount: number,
    private readonly time: VirtualTime,
    private readonly random: Random,
    /** Lag of the replicas in milliseconds. If undefined, answers wait for the replicas. */
    private readonly behindMs?: number,
  ) {
    this.shards = Array.from({ length: shardCount }, (_, shard) => ({
      head: genesisHead(storeId, shard),
      entries: [],
      trimmed: [],
      snapshots: new MemorySnapshots(),
      replicated: 0,
    }));
    this.servers = Array.from({ length: serverCount }, () => ({ life: 0, isAway: false, slowness: 1 }));
  }

  get serverCount(): number {
    return this.servers.length;
  }

  /** Replaces a master that was unreachable for `awayMs`. Entries that its replicas lacked are lost. */
  failOver(server: number, awayMs = FAILOVER_MS): void {
    const one = this.server(server);
    one.life++;
    one.isAway = true;
    for (const [shard, stored] of this.shards.entries()) {
      if (this.serverOf(shard) !== server) continue;
      const kept = stored.entries.findIndex(({ head }) => head.lsn.sequence > stored.replicated);
      if (kept < 0) continue;
      const lost = stored.entries.splice(kept);
      stored.head =
        stored.entries.at(-1)?.head ?? (lost[0] === undefined ? stored.head : this.headBefore(shard, lost[0]));
    }
    this.time.after(awayMs, () => {
      one.isAway = false;
    });
  }

  /** Makes a server temporarily unreachable. */
  away(server: number, ms: number): void {
    const one = this.server(server);
    one.isAway = true;
    this.time.after(ms, () => {
      one.isAway = false;
    });
  }

  slow(server: number, slowness: number, ms: number): void {
    const one = this.server(server);
    one.slowness = slowness;
    this.time.after(ms, () => {
      one.slowness = 1;
    });
  }

  /** Ends all faults. */
  calm(): void {
    this.faults = NO_FAULTS;
    for (const server of this.servers) {
      server.isAway = false;
      server.slowness = 1;
    }
  }

  serverOf(shard: number): number {
    return shard % this.servers.length;
  }

  /** All entries that were ever in the log and have not been lost. */
  history(shard: number): readonly EncodedEntry[] {
    const { trimmed, entries } = this.shard(shard);
    return [...trimmed, ...entries];
  }

  /**
   * The store as seen by one process. `isCut` returns true if the process is cut off from a server. `random` determines
   * how long its calls take.
   */
  accessOf(process: SimulatedProcess, isCut: (server: number) => boolean, random = this.random): StoreAccess {
    return new StoreAccess(this, process, isCut, random);
  }

  /** Delivers a call to the server and returns its answer. Rejects like a driver. */
  async call<T>(
    process: SimulatedProcess,
    server: number,
    isCut: (server: number) => boolean,
    run: () => T,
    /** The time by which the server delays the answer, in milliseconds. */
    waitsMs = 0,
    random = this.random,
  ): Promise<T> {
    const { time, faults } = this;
    return await new Promise<T>((resolve, reject) => {
      const one = this.server(server);
      const { life } = one;
      let isOver = false;
      const end = (finish: () => void) => {
        if (!isOver) process.here(finish);
        isOver = true;
        stopWaiting();
      };
      const fail = (message: string) => end(() => reject(new Error(message)));
      const stopWaiting = process.after(TIMEOUT_MS, () => fail('the server has not answered in time'));
      if (isCut(server) || random.chance(faults.requestLost)) return;
      const isLate = random.chance(faults.late);
      time.after(isLate ? random.between(0, LATE_MS) : this.latencyMs(one, random), () => {
        if (one.life !== life || one.isAway) {
          // A refused connection fails immediately.
          if (!isLate) time.after(this.latencyMs(one, random), () => fail('the connection was lost'));
          return;
        }
        let answer: T;
        try {
          answer = run();
        } catch (error) {
          // Send the refusal to the caller, like any other answer.
          time.after(this.latencyMs(one, random), () => end(() => reject(error)));
          return;
        }
        if (random.chance(faults.answerLost)) return;
        time.after(waitsMs + this.latencyMs(one, random), () => {
          if (one.life !== life) fail('the connection was lost');
          else if (!isCut(server)) end(() => resolve(answer));
        });
      });
    });
  }

  /** The time that an answer waits for the replicas, in milliseconds. */
  waitsMs(server: number): number {
    return this.behindMs === undefined ? this.replicationMs(server) : 0;
  }

  private replicationMs(server: number): number {
    return this.random.between(0.1, REPLICATION_MS_MAX) * this.server(server).slowness;
  }

  /** The time after which the replicas have every entry that the master has now, in milliseconds. */
  replicationMsMax(server: number): number {
    return this.behindMs ?? REPLICATION_MS_MAX * this.server(server).slowness;
  }

  /** True if the replicas have the shard's entries up to this sequence number. */
  isReplicated(shard: number, sequence: number): boolean {
    return this.shard(shard).replicated >= sequence;
  }

  write({ shard, expected, entries }: Append): AppendOutcome {
    const stored = this.shard(shard);
    const newest = entries.at(-1);
    if (newest !== undefined && isSameHead(stored.head, newest.head)) return { type: 'duplicate' };
    if (!isSameHead(stored.head, expected)) return { type: 'conflict', head: stored.head };
    for (const { head, bytes } of entries) stored.entries.push({ head, bytes: Buffer.from(bytes) });
    if (newest !== undefined) stored.head = newest.head;
    return { type: 'ok' };
  }

  /** Gives the replicas the master's current entries after this delay. */
  replicateAfter(shard: number, waitsMs: number): void {
    const ms = this.behindMs ?? waitsMs;
    const stored = this.shard(shard);
    const server = this.server(this.serverOf(shard));
    const { life } = server;
    const { sequence } = stored.head.lsn;
    this.time.after(ms, () => {
      if (server.life === life) stored.replicated = Math.max(stored.replicated, sequence);
    });
  }

  shard(shard: number): Stored {
    return this.shards[shard] as Stored;
  }

  private server(server: number): Server {
    return this.servers[server] as Server;
  }

  private latencyMs({ slowness }: Server, random: Random): number {
    const usual = random.chance(0.01) ? random.between(1, 30) : random.between(0.05, 0.6);
    return usual * slowness;
  }

  /** The newest head that survives the loss of an entry; the head of an empty log if no entry is left. */
  private headBefore(shard: number, { head }: EncodedEntry): Head {
    if (head.lsn.sequence === 1) return genesisHead(this.storeId, shard);
    throw new Error('a log is not trimmed up to what its replicas lack');
  }
}

/** The store as a driver provides it to one process. */
export class StoreAccess extends OwnersSnapshots implements Wal, SnapshotStore {
  constructor(
    private readonly store: SimulatedStore,
    private readonly process: SimulatedProcess,
    private readonly isCut: (server: number) => boolean,
    private readonly random: Random,
  ) {
    super();
  }

  appendQueueOf(shard: number): number {
    return this.store.serverOf(shard);
  }

  async append(appends: readonly Append[], isLate?: () => boolean): Promise<readonly AppendOutcome[]> {
    const { store } = this;
    return await Promise.all(
      appends.map(async (append): Promise<AppendOutcome> => {
        store.onAppend(append);
        if (isLate?.()) return { type: 'failed', error: new OverdueError() };
        const waitsMs = store.waitsMs(store.serverOf(append.shard));
        try {
          // The replicas have the entry after `waitsMs`, when the append is answered.
          return await this.at(
            append.shard,
            () => this.replicated(append.shard, waitsMs, store.write(append)),
            waitsMs,
          );
        } catch (error) {
          return { type: 'failed', error: error as Error };
        }
      }),
    );
  }

  async fence(shards: readonly number[], makeFence: MakeFence) {
    const fences = await Promise.all(
      shards.map(async (shard) => {
        const { head: previous, newest } = await this.at(shard, () => {
          const { head, entries } = this.store.shard(shard);
          return { head, newest: entries.at(-1)?.bytes };
        });
        return { shard, previous, entry: makeFence(shard, previous, newest) };
      }),
    );
    for (const outcome of await this.append(fences.map(appendOf))) {
      if (outcome.type !== 'ok') throw new Error('the fence was not written');
    }
    return fences;
  }

  async head(shard: number): Promise<Head> {
    return await this.at(shard, () => this.store.shard(shard).head);
  }

  async read(shard: number, after: Lsn, limit: number): Promise<readonly Buffer[]> {
    return await this.at(shard, () => {
      const { entries } = this.store.shard(shard);
      const first = firstAfter(entries, after);
      return entries.slice(first, first + limit).map(({ bytes }) => bytes);
    });
  }

  /** Waits until the replicas have the entries that the masters of these shards have now. */
  async settle(shards: readonly number[]): Promise<void> {
    const { store } = this;
    await Promise.all(
      shards.map(async (shard) => {
        const waitsMs = store.replicationMsMax(store.serverOf(shard));
        const { lsn } = await this.at(shard, () => store.shard(shard).head, waitsMs);
        if (!store.isReplicated(shard, lsn.sequence)) throw new Error('the replicas do not have it');
      }),
    );
  }

  async snapshots(shard: number): Promise<readonly StoredSnapshot[]> {
    return await this.at(shard, () => this.snapshotsOf(shard).list());
  }

  async readChunks(shard: number, id: string, first: number, count: number): Promise<readonly (Buffer | undefined)[]> {
    return await this.at(shard, () =>
      Array.from({ length: count }, (_, i) => this.snapshotsOf(shard).chunk(id, first + i)),
    );
  }

  trimLog(shard: number, nonce: string, kept: readonly StoredSnapshot[], before: Lsn): Promise<boolean> {
    return this.writeAs(shard, nonce, kept, () => {
      const { entries, trimmed } = this.store.shard(shard);
      const first = entries.findIndex(
        ({ head }, i) => head.lsn.sequence >= before.sequence || i === entries.length - 1,
      );
      trimmed.push(...entries.splice(0, Math.max(first, 0)));
      return true;
    });
  }

  private snapshotsOf(shard: number): MemorySnapshots {
    return this.store.shard(shard).snapshots;
  }

  protected async writeAs(
    shard: number,
    nonce: string,
    kept: readonly StoredSnapshot[],
    run: (snapshots: MemorySnapshots) => boolean,
  ): Promise<boolean> {
    return await this.at(shard, () => {
      const snapshots = this.snapshotsOf(shard);
      return this.store.shard(shard).head.nonce === nonce && snapshots.hasAll(kept) && run(snapshots);
    });
  }

  private async at<T>(shard: number, run: () => T, waitsMs = 0): Promise<T> {
    const { store, process, isCut, random } = this;
    return await store.call(process, store.serverOf(shard), isCut, run, waitsMs, random);
  }

  private replicated(shard: number, afterMs: number, outcome: AppendOutcome): AppendOutcome {
    this.store.replicateAfter(shard, afterMs);
    return outcome;
  }
}

/**
 * The index of the first entry after `lsn`. Uses a binary search, because followers of a long log repeatedly read a few
 * entries.
 */
function firstAfter(entries: readonly EncodedEntry[], lsn: Lsn): number {
  let [least, most] = [0, entries.length];
  while (least < most) {
    const middle = (least + most) >> 1;
    if (compareLsn((entries[middle] as EncodedEntry).head.lsn, lsn) > 0) most = middle;
    else least = middle + 1;
  }
  return least;
}

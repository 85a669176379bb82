import type { Worker } from 'node:worker_threads';
import type { Clock } from '../base/clock.js';
import type { ConfirmedTime } from '../base/irreversible-time.js';
import type { Logger } from '../base/logger.js';
import { type Metric, mergeMetrics } from '../base/metric.js';
import type { Replier } from '../base/replier.js';
import { RestartBudget } from '../base/restart-budget.js';
import type { CallbackCodec, CallbackReply } from '../callback/callback-codec.js';
import { guessUsername } from '../callback/guess-username.js';
import type { SentCallback } from '../callback/sent-callback.js';
import type { ShardState } from '../engine/shard.js';
import type { Lsn } from '../ports/lsn.js';
import { MOVED, STARTING, STOPPED } from '../ports/request.js';
import type { Takeover } from '../ports/wal.js';
import type { Pace, SnapshotResult } from '../snapshot/snapshotter.js';
import type { Command } from '../wallet/command.js';
import type { Answer } from '../wallet/decision.js';
import type { Query, QueryResult } from '../wallet/query.js';
import type { BusyAnswer } from '../wallet/rejection.js';
import type { OnFenced } from './host-observer.js';
import { shardOf } from './placement.js';
import type { NewRequest } from './protocol.js';
import type { Move, MoveResult, ShardStatus, Shards } from './shards.js';
import { WorkerClient } from './worker-client.js';

export interface PoolDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /**
   * Starts a thread for these shards. If there are no fences, the thread replaces one that died after it had
   * acknowledged the entries in `acknowledged`.
   */
  readonly spawn: (
    worker: number,
    shards: readonly number[],
    fences: readonly Takeover[] | undefined,
    acknowledged: ReadonlyMap<number, Lsn>,
  ) => Worker;
  readonly onFenced: OnFenced;
  /**
   * True if several nodes share the shards. Threads then start without shards, and each shard goes to the thread with
   * the fewest shards.
   */
  readonly isShared: boolean;
  readonly codec: Pick<CallbackCodec, 'addressOf'>;
}

/** Moves for which a shard must be assigned to a thread. */
const PLACED_FOR: ReadonlySet<Move['type']> = new Set(['follow', 'bring', 'take', 'stop']);

/**
 * A worker's place in the pool, which outlives its thread. While the thread does not serve, the slot's state applies to
 * all of its shards.
 */
interface WorkerSlot {
  readonly worker: number;
  /** All shards that the thread is allowed to have. */
  readonly shards: readonly number[];
  /** By shard: the newest entry whose answers have arrived. */
  readonly acknowledged: Map<number, Lsn>;
  client: WorkerClient | undefined;
  state: ShardState;
  /** The reason why the worker has stopped. */
  reason: string | undefined;
  readonly restarts: RestartBudget;
  /** Counters of the slot's earlier threads, which have ended. */
  counted: readonly Metric[];
}

const THREAD_ENDED = 'its thread has ended';
const NOT_HERE: MoveResult = { type: 'failed', reason: 'it is not on this node', isPermanent: false };
const NO_THREADS: MoveResult = { type: 'failed', reason: THREAD_ENDED, isPermanent: false };
/** Placeholder status fields for a shard on which no thread has reported. */
const UNKNOWN: Pick<ShardStatus, 'players' | 'waiting' | 'head' | 'timeMs' | 'pendingAppendMs' | 'lacksNames'> = {
  players: 0,
  waiting: 0,
  head: undefined,
  timeMs: 0,
  pendingAppendMs: 0,
  lacksNames: false,
};

/**
 * Shards on worker threads. A worker that dies is restarted and recovers its shards while the other workers serve. A
 * worker that dies again within a minute is not restarted, and its shards stay stopped.
 */
export class WorkerPool implements Shards {
  private readonly slots: WorkerSlot[];
  /**
   * The newest format that threads may write, including threads that start later. Undefined if each thread keeps the
   * format with which it starts.
   */
  private format: number | undefined = undefined;
  /** Confirmed time, which threads that start later also receive. */
  private confirmed: ConfirmedTime | undefined = undefined;
  /** By shard: the slot of the thread that has it. A shard on another node has none. */
  private readonly byShard = new Map<number, WorkerSlot>();

  constructor(
    private readonly shardCount: number,
    workerCount: number,
    private readonly deps: PoolDeps,
  ) {
    this.slots = range(Math.min(workerCount, shardCount)).map((worker) => {
      const shards = range(shardCount).filter((shard) => deps.isShared || shard % workerCount === worker);
      return {
        worker,
        shards,
        acknowledged: new Map(),
        client: undefined,
        state: 'starting',
        reason: undefined,
        restarts: new RestartBudget(),
        counted: [],
      };
    });
    if (deps.isShared) return;
    for (const slot of this.slots) for (const shard of slot.shards) this.byShard.set(shard, slot);
  }

  async start(fences: readonly Takeover[]): Promise<void> {
    const of = ({ shards }: WorkerSlot) => fences.filter(({ shard }) => shards.includes(shard));
    await Promise.all(this.slots.map((slot) => this.open(slot, of(slot))));
  }

  execute(shard: number, command: Command, deadlineMs: number, replier: Replier<Answer>): void {
    this.submit({ shard, deadlineMs, command }, replier);
  }

  carryOut(callback: SentCallback, replier: Replier<CallbackReply>): void {
    // A single worker has all shards, so no guess is needed. If there are several workers, a wrong guess sends the
    // callback to a second one.
    const [only, second] = this.slots;
    const slot = second === undefined ? only : this.byShard.get(shardOf(guessUsername(callback.text), this.shardCount));
    if (slot?.state === 'serving') slot.client?.carryOut(callback, replier);
    else this.forwardParsed(callback, replier);
  }

  ask(shard: number, query: Query, deadlineMs: number, replier: Replier<QueryResult | BusyAnswer>): void {
    this.submit({ shard, deadlineMs, query }, replier);
  }

  status(): ShardStatus[] {
    return range(this.shardCount).map((shard) => {
      const slot = this.byShard.get(shard);
      if (slot === undefined) {
        return { ...UNKNOWN, shard, ...this.elsewhere, acknowledged: this.acknowledgedOf(shard) };
      }
      const { client, state, reason } = slot;
      const known = client?.status.find((status) => status.shard === shard);
      if (known === undefined) return { ...UNKNOWN, shard, state, reason };
      return state === 'serving' ? known : { ...known, state, reason };
    });
  }

  private acknowledgedOf(shard: number): Lsn | undefined {
    let newest: Lsn | undefined;
    for (const { acknowledged } of this.slots) {
      const lsn = acknowledged.get(shard);
      if (lsn !== undefined && lsn.sequence > (newest?.sequence ?? 0)) newest = lsn;
    }
    return newest;
  }

  /** The status of a shard that is in no thread. If no thread is left, this process cannot serve the shard. */
  private get elsewhere(): Pick<ShardStatus, 'state' | 'reason'> {
    if (this.hasThreads) return { state: 'away', reason: undefined };
    return { state: 'stopped', reason: this.slots[0]?.reason };
  }

  private get hasThreads(): boolean {
    return this.slots.some(({ state }) => state !== 'stopped');
  }

  get isMemoryFull(): boolean {
    return this.slots.some(({ client }) => client?.isMemoryFull === true);
  }

  metrics(): readonly Metric[] {
    return this.slots.flatMap(({ client, counted }) => [...counted, ...(client?.metrics ?? [])]);
  }

  async drain(timeoutMs: number): Promise<boolean> {
    const endMs = this.deps.clock.monotonicMs() + timeoutMs;
    // Check again, because a callback that one worker returned goes to another one, which may already have reported
    // that it is drained.
    for (let leftMs = timeoutMs; leftMs > 0; leftMs = endMs - this.deps.clock.monotonicMs()) {
      const drained = await Promise.all(this.slots.map(({ client }) => client?.drain(leftMs) ?? true));
      if (drained.every(Boolean)) return true;
    }
    return false;
  }

  async takeSnapshots(pace: Pace): Promise<readonly SnapshotResult[]> {
    const results = await Promise.all(
      this.slots.map(async (slot) => {
        const results = await slot.client?.takeSnapshots(pace);
        if (results !== undefined) return results;
        return this.shardsOf(slot).map((shard) => ({ type: 'abandoned', shard, reason: THREAD_ENDED }) as const);
      }),
    );
    return results.flat().sort((a, b) => a.shard - b.shard);
  }

  async move(move: Move): Promise<MoveResult> {
    const { shard, type } = move;
    const slot = this.byShard.get(shard) ?? (PLACED_FOR.has(type) ? this.place(shard) : undefined);
    if (slot === undefined) return this.unplaced(type);
    const { client, reason = THREAD_ENDED } = slot;
    const result = await client?.move(move);
    if (this.stateIn(slot, shard) === 'away') this.unplace(slot, shard);
    return result ?? { type: 'failed', reason, isPermanent: false };
  }

  /** The result of a move of a shard that is in no thread. */
  private unplaced(type: Move['type']): MoveResult {
    if (!this.hasThreads || PLACED_FOR.has(type)) return NO_THREADS;
    return type === 'leave' ? { type: 'done' } : NOT_HERE;
  }

  /** Assigns the shard to the serving thread with the fewest shards. Returns undefined if no thread serves. */
  private place(shard: number): WorkerSlot | undefined {
    const serving = this.slots.filter(({ state }) => state === 'serving');
    const [emptiest] = serving.toSorted((a, b) => this.shardsOf(a).length - this.shardsOf(b).length);
    if (emptiest !== undefined) this.byShard.set(shard, emptiest);
    return emptiest;
  }

  /** Removes the shard from the thread, unless it is in another thread by now. */
  private unplace(slot: WorkerSlot, shard: number): void {
    if (this.byShard.get(shard) === slot) this.byShard.delete(shard);
  }

  private stateIn({ client, state }: WorkerSlot, shard: number): ShardState {
    if (state !== 'serving') return state;
    return client?.status.find((status) => status.shard === shard)?.state ?? 'starting';
  }

  /** The shards that the thread has at present. */
  private shardsOf(slot: WorkerSlot): number[] {
    return [...this.byShard].flatMap(([shard, other]) => (other === slot ? [shard] : []));
  }

  allowFormat(format: number): void {
    if (format === this.format) return;
    this.format = format;
    for (const { client } of this.slots) client?.allowFormat(format);
  }

  confirmTime(confirmed: ConfirmedTime): void {
    this.confirmed = confirmed;
    for (const { client } of this.slots) client?.confirmTime(confirmed);
  }

  async keepOrphans(): Promise<void> {
    await Promise.all(this.slots.map(({ client }) => client?.keepOrphans()));
  }

  async close(): Promise<void> {
    await Promise.all(this.slots.map(({ client }) => client?.close()));
  }

  private forward(callback: SentCallback, shard: number, replier: Replier<CallbackReply>): void {
    const slot = this.byShard.get(shard);
    if (slot?.state === 'serving') slot.client?.carryOut(callback, replier);
    else replier.reply({ answer: busyIn(slot), body: '' });
  }

  /**
   * Parses the callback here, because a worker that does not serve cannot report a wrong guess or a malformed callback.
   */
  private forwardParsed(callback: SentCallback, replier: Replier<CallbackReply>): void {
    const address = this.deps.codec.addressOf(callback.endpoint, callback.text);
    if ('username' in address) this.forward(callback, shardOf(address.username, this.shardCount), replier);
    else replier.reply(address);
  }

  private submit(request: NewRequest, replier: Replier<never>): void {
    const slot = this.byShard.get(request.shard);
    if (slot?.state === 'serving') slot.client?.submit(request, replier);
    else (replier as Replier<BusyAnswer>).reply(busyIn(slot));
  }

  private async open(slot: WorkerSlot, fences: readonly Takeover[] | undefined): Promise<void> {
    const { worker, shards, acknowledged } = slot;
    const events = {
      onOpened: () => {
        slot.state = 'serving';
        slot.restarts.recovered(this.deps.clock.monotonicMs());
      },
      onFenced: (...fenced: Parameters<OnFenced>) => void this.fenced(slot, ...fenced),
      onMisplaced: this.forward.bind(this),
      onDied: (error: Error) => this.died(slot, error),
    };
    const thread = this.deps.spawn(worker, shards, fences, acknowledged);
    slot.client = new WorkerClient(thread, events, acknowledged, this.deps.log);
    if (this.format !== undefined) slot.client.allowFormat(this.format);
    if (this.confirmed !== undefined) slot.client.confirmTime(this.confirmed);
    await slot.client.open();
  }

  private async fenced(slot: WorkerSlot, ...fenced: Parameters<OnFenced>): Promise<void> {
    const [shard] = fenced;
    if (this.deps.isShared) this.unplace(slot, shard);
    // Without a cluster, an owner that takes one shard takes all of them. Keep the entries of all shards, including
    // those of workers that have not noticed the fence yet.
    else await this.keepOrphans();
    this.deps.onFenced(...fenced);
  }

  private died(slot: WorkerSlot, error: Error): void {
    const { worker } = slot;
    const shards = this.shardsOf(slot);
    const at = { worker, shards, error: error.stack ?? error.message };
    // When the shards come back, they may be in a different thread or on a different node.
    if (this.deps.isShared) for (const shard of shards) this.byShard.delete(shard);
    slot.counted = mergeMetrics([...slot.counted, ...(slot.client?.takeCounters() ?? [])]);
    if (!slot.restarts.failed(this.deps.clock.monotonicMs())) {
      slot.state = 'stopped';
      slot.reason = 'its worker died twice in a minute';
      this.deps.log.error(
        { code: 'worker-died-twice', ...at },
        'worker died twice in a minute, its shards stay stopped',
      );
    } else if (slot.state === 'serving') {
      slot.state = 'starting';
      this.deps.log.error({ code: 'worker-died', ...at }, 'worker died, restarting it');
      void this.restart(slot);
    }
  }

  private async restart(slot: WorkerSlot): Promise<void> {
    const { worker, shards } = slot;
    try {
      await this.open(slot, undefined);
      if (slot.state === 'serving') this.deps.log.info({ worker, shards }, 'worker restarted');
    } catch (error) {
      const { message } = error as Error;
      slot.state = 'stopped';
      slot.reason = message;
      const at = { code: 'worker-recovery-failed', worker, shards, error: message };
      this.deps.log.error(at, 'worker recovery failed, its shards stay stopped');
      await slot.client?.close();
    }
  }
}

/** The answer for a shard that is in no thread or whose thread does not serve. */
function busyIn(slot: WorkerSlot | undefined): BusyAnswer {
  if (slot === undefined) return MOVED;
  return slot.state === 'starting' ? STARTING : STOPPED;
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}

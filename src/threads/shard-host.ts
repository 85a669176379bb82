import type { EvictedKeys } from '../archive/evicted-keys.js';
import { type ArchiveMeasures, ShardArchive } from '../archive/shard-archive.js';
import type { ShardArchiveDeps } from '../archive/shard-archive-deps.js';
import { assert, must } from '../base/assert.js';
import type { Clock } from '../base/clock.js';
import { type ConfirmedTime, expiredBeforeMs } from '../base/irreversible-time.js';
import { currentHashKey } from '../base/keyed-hash.js';
import type { Logger } from '../base/logger.js';
import type { Metric } from '../base/metric.js';
import type { Replier } from '../base/replier.js';
import { SteadyClock } from '../base/steady-clock.js';
import { type Cancel, delay, nextTurn, type Timers } from '../base/timers.js';
import { type CallbackCodec, type CallbackReply, REPLAYED } from '../callback/callback-codec.js';
import type { SentCallback } from '../callback/sent-callback.js';
import { GroupCommit } from '../engine/group-commit.js';
import { Shard, type ShardLimits, type ShardMeasures } from '../engine/shard.js';
import { hasEntry } from '../log/log-reader.js';
import type { Recovered } from '../log/recovery.js';
import type { Archive } from '../ports/archive.js';
import type { KeyFile } from '../ports/key-file.js';
import type { LogConsumers } from '../ports/log-consumers.js';
import type { Lsn } from '../ports/lsn.js';
import { ATTEMPTS_AT_START, withRetries } from '../ports/retry-policy.js';
import type { SnapshotFormat, SnapshotStore } from '../ports/snapshot-store.js';
import type { EncodedEntry, EntryFormat, Head, Owner, Position, Takeover, Wal } from '../ports/wal.js';
import type { NewestSnapshot, TakenSnapshot } from '../snapshot/known-snapshots.js';
import type { SnapshotPolicy } from '../snapshot/snapshot-policy.js';
import { type Pace, type SnapshotResult, Snapshotter } from '../snapshot/snapshotter.js';
import { Archiver } from '../upkeep/archiver.js';
import { ClockWatch } from '../upkeep/clock-watch.js';
import { Housekeeper } from '../upkeep/housekeeper.js';
import { OrphanKeeper } from '../upkeep/orphan-keeper.js';
import { SnapshotQueue } from '../upkeep/snapshot-queue.js';
import { SpareTime } from '../upkeep/spare-time.js';
import type { Command, Endpoint } from '../wallet/command.js';
import type { Rules } from '../wallet/decide/rules.js';
import type { Answer } from '../wallet/decision.js';
import type { Query, QueryResult } from '../wallet/query.js';
import type { BusyAnswer } from '../wallet/rejection.js';
import type { TableSizes } from '../wallet/state/tables.js';
import { FirstEndpoints, type FirstEndpointsMeasures } from './first-endpoints.js';
import type { HostObserver, OnFenced } from './host-observer.js';
import { HostedShard } from './hosted-shard.js';
import { shardOf } from './placement.js';
import { ShardMoves } from './shard-moves.js';
import { ShardRestarts } from './shard-restarts.js';
import type { Move, MoveResult, ShardStatus, ThreadShards } from './shards.js';
import { TurnWatch } from './turn-watch.js';

/** Measurements of one shard of this host. */
export interface HostMeasures extends ShardMeasures {
  readonly snapshot: NewestSnapshot | undefined;
  readonly taken: TakenSnapshot | undefined;
  /** Measurements of the shard's archive; undefined if there is no archive. */
  readonly archive: ArchiveMeasures | undefined;
}

export interface HostDeps {
  readonly codec: CallbackCodec;
  /** Number of shards in the store. This thread may have only some of them. */
  readonly shardCount: number;
  /**
   * True if several nodes share the shards. This node then starts without shards, and keeps running if it loses one.
   */
  readonly isShared: boolean;
  /** Checks the store. Throws a `RecoveryError` unless it is the store with which the process was started. */
  readonly checkStore: () => Promise<void>;
  /** Creates metrics from these measurements and from the thread's counters. */
  readonly metrics: (shards: readonly HostMeasures[], firstEndpoints: FirstEndpointsMeasures) => readonly Metric[];
  readonly onClose: () => Promise<void>;
  readonly wal: Wal;
  readonly snapshots: SnapshotStore;
  readonly format: EntryFormat;
  readonly snapshotFormat: SnapshotFormat;
  /**
   * Sizes of the tables in memory, which `snapshotFormat` must use as well. If undefined, the sizes suit many players.
   */
  readonly tableSizes?: TableSizes | undefined;
  /** See `Shards.allowFormat`. */
  readonly allowFormat: (format: number) => void;
  readonly policy: SnapshotPolicy;
  /** See `SnapshotterDeps`. */
  readonly consumers?: LogConsumers | undefined;
  /** Returns 16 random hexadecimal digits. */
  readonly newSnapshotId: () => string;
  /** The newest acknowledged position of a shard, from this node's record file. */
  readonly acknowledged: (shard: number) => Position | undefined;
  readonly genesis: (shard: number) => Head;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Wall clock minus monotonic clock, as measured by the process when the thread started. */
  readonly clockOffsetMs: number;
  readonly log: Logger;
  readonly rules: Rules;
  readonly limits: ShardLimits;
  readonly memory: { readonly isFull: boolean; readonly isHalfFull: boolean };
  readonly observer: HostObserver;
  readonly owner: Owner;
  /** The prefix of the nonce of each fence by this process: 8 random hexadecimal digits that no other process uses. */
  readonly ownerTag: string;
  readonly newNonce: () => string;
  /** See `TakeOverDeps`. */
  readonly isClockConfirmed?: (nowMs: number) => boolean;
  readonly onFenced: OnFenced;
  /** Writes to a file the entries that the log has permanently lost. Resolves with the file's path. */
  readonly writeOrphans: (shard: number, entries: readonly EncodedEntry[]) => Promise<string>;
  /** The time that this thread has waited for events since it started. */
  readonly loopIdleMs: () => number;
  /** Idle time after which a wallet is hibernated. */
  readonly idleMs: number;
  /** How long a body is accepted only at the endpoint to which it was sent first. */
  readonly replayWindowMs: number;
  /** The archive for closed rounds; undefined if all rounds stay in memory. */
  readonly archive: Archive | undefined;
  /** The file that saves the archive's key filter for the next start. Undefined if the archive is on this machine. */
  readonly names: KeyFile | undefined;
  /** How long closed rounds stay in memory before they are archived. */
  readonly memoryMs: number;
  /** True if callbacks can be traced. */
  readonly isTracing: boolean;
  /** Number of bytes of durable entries kept per shard, for a store that can lose entries. */
  readonly recentBytesMax: number;
}

const SWEEP_MS = 1000;
/** The sweeps visit every player about once an hour. */
const SWEEPS_PER_PASS = 3600;
const DRAIN_POLL_MS = 5;
/**
 * Time limit for saving the key filter at shutdown. If it is not saved, the next start has to read all keys from the
 * archive.
 */
const SAVE_KEY_FILTER_MS = 1000;
const SNAPSHOT_ATTEMPTS = 5;

/** Shards of one thread. Passes requests to them and schedules their appends and sweeps. The observer counts events. */
export class ShardHost implements ThreadShards {
  private readonly shards = new Map<number, HostedShard>();
  private readonly snapshots: SnapshotQueue;
  private readonly orphans: OrphanKeeper;
  private readonly restarts: ShardRestarts;
  private readonly moves: ShardMoves | undefined;
  private readonly turns: TurnWatch | undefined;
  private readonly firstEndpoints: FirstEndpoints;
  private stopSweeping: Cancel = () => {};
  /** The steady clock that logs and wallets use. */
  private readonly clock: Clock;
  private readonly clockWatch: ClockWatch;
  /** Confirmed time; undefined until the process sets it. Until then, nothing is dropped or forgotten. */
  private confirmed: ConfirmedTime | undefined = undefined;
  private readonly housekeeper: Housekeeper;
  private readonly archiver: Archiver;
  /** True once all shards have recovered for the first time. */
  private hasBegun = false;

  constructor(
    shardIds: readonly number[],
    private readonly deps: HostDeps,
  ) {
    const { wal, format, log, rules, limits, memory, timers } = deps;
    const yieldTurn = () => nextTurn(timers);
    const delayed = (ms: number) => delay(timers, ms);
    this.turns = deps.isTracing ? new TurnWatch(deps.observer) : undefined;
    const observer = this.turns ?? deps.observer;
    const clock = new SteadyClock(deps.clock, deps.clockOffsetMs);
    this.clock = clock;
    this.clockWatch = new ClockWatch(deps.clock, log);
    this.orphans = new OrphanKeeper(deps);
    const monotonicMs = () => clock.monotonicMs();
    const { loopIdleMs } = deps;
    const spareTime = new SpareTime({
      monotonicMs,
      loopIdleMs,
      defer: timers.defer,
      isUrgent: () => memory.isHalfFull,
    });
    const onQuiet = () => spareTime.offer();
    const group = new GroupCommit({
      wal,
      defer: timers.defer,
      delay: (run, ms) => void timers.after(ms, run),
      monotonicMs,
      onQuiet,
    });
    const snapshotter = new Snapshotter({
      ...deps,
      clock,
      delay: delayed,
      yieldTurn,
      attemptsMax: SNAPSHOT_ATTEMPTS,
      newId: deps.newSnapshotId,
      beforePublish: async (shard) => await this.shards.get(shard)?.archive?.writeFile(),
    });
    this.snapshots = new SnapshotQueue(this.shards, { ...deps, snapshotter, clock });
    this.firstEndpoints = new FirstEndpoints(deps.replayWindowMs, currentHashKey(), deps.clock.monotonicMs());
    const taking = {
      ...deps,
      hasArchive: deps.archive !== undefined,
      realClock: deps.clock,
      clock,
      delay: delayed,
      yieldTurn,
      onTaken: this.taken.bind(this),
    };
    this.restarts = new ShardRestarts(this.shards, { ...taking, orphans: this.orphans });
    const recover = (hosted: HostedShard) => this.restarts.restart(hosted);
    this.moves = deps.isShared ? new ShardMoves(this.shards, { ...taking, recover }) : undefined;
    const { archive } = deps;
    const archived: [Shard, ShardArchive][] = [];
    for (const id of shardIds) {
      const shardArchive = archive && new ShardArchive(id, this.archiveDeps(archive, id));
      const shard: Shard = new Shard(
        id,
        {
          format,
          clock,
          log,
          rules,
          limits,
          memory,
          archive: shardArchive,
          observer,
          requestFlush: () => group.request(shard),
          // In a cluster, the shard's replica decides when it recovers.
          onFailed: () => void (deps.isShared || this.restarts.restart(hosted)),
          onFenced: (head) => void this.restarts.fenced(hosted, head),
          onDiverged: () => void this.orphans.keep(hosted),
        },
        deps.isShared ? 'away' : 'starting',
      );
      const hosted = new HostedShard(shard, shardArchive);
      this.shards.set(id, hosted);
      if (shardArchive !== undefined) archived.push([shard, shardArchive]);
    }
    this.archiver = new Archiver(archived, {
      clock,
      timers,
      spareTime,
      memoryMs: deps.memoryMs,
      dropBefore: async (day) => await archive?.dropBefore(day),
      expiredBeforeMs: (serverMs) => this.expiredBeforeMs(serverMs),
      serverMs: async () => await archive?.serverMs(),
    });
    this.housekeeper = new Housekeeper([...this.shards.values()], deps.idleMs, clock, timers);
  }

  async start(fences: readonly Takeover[]): Promise<void> {
    await this.deps.checkStore();
    await this.restarts.start(fences);
    await this.begin();
  }

  /**
   * Starts a thread that replaces a dead one. It takes over only shards that this process still owns; a shard that
   * another process has taken over in the meantime stays there. `acknowledged` contains the newest entries whose
   * answers have left this process. A shard whose log ends before its entry stops, because the lost entries cannot be
   * restored. During an outage, waits until it ends.
   */
  async resume(acknowledged: ReadonlyMap<number, Lsn>): Promise<void> {
    await this.restarts.resume(acknowledged);
    await this.begin();
  }

  private async begin(): Promise<void> {
    this.hasBegun = true;
    await Promise.all([...this.shards.values()].map(({ archive }) => archive?.fileRead));
    this.stopSweeping = this.deps.timers.every(SWEEP_MS, () => this.sweep());
    this.housekeeper.start();
    this.archiver.start();
    this.moves?.start();
  }

  private taken(hosted: HostedShard, recovered: Recovered, wasStandby: boolean): void {
    if (wasStandby) {
      hosted.archive?.takeOver(recovered.left);
      void this.snapshots.takenOver(hosted, recovered);
      return;
    }
    this.snapshots.recovered(hosted, recovered);
    // A shard that is taken over again later already has its archive's keys.
    if (!this.hasBegun) void hosted.archive?.load(recovered.left);
  }

  move(move: Move): Promise<MoveResult> {
    return must(this.moves, 'moves are of shards that several nodes share').move(move);
  }

  get isMemoryFull(): boolean {
    return this.deps.memory.isFull;
  }

  private archiveDeps(archive: Archive, id: number): ShardArchiveDeps {
    const { log, observer, rules, timers, names, wal, format } = this.deps;
    const reader = {
      ...this.deps,
      clock: this.clock,
      delay: (ms: number) => delay(timers, ms),
      attemptsMax: ATTEMPTS_AT_START,
    };
    return {
      archive,
      required: () => this.shards.get(id)?.shard.archived,
      head: () => {
        const shard = this.shards.get(id)?.shard;
        return shard?.isServing === true ? shard.durableHead : undefined;
      },
      names,
      isInLog: (head) => withRetries('read the log', reader, () => hasEntry(id, head, { wal, format })),
      log,
      observer,
      retentionMs: rules.retentionMs,
      hashKey: currentHashKey(),
      clock: this.clock,
      defer: timers.defer,
      yieldTurn: () => nextTurn(timers),
      delay: (ms) => delay(timers, ms),
    };
  }

  carryOut(callback: SentCallback, replier: Replier<CallbackReply>): void {
    const elsewhere = this.tryCarryOut(callback, replier);
    assert(elsewhere === undefined, 'a thread that is asked for all shards has them');
  }

  tryCarryOut(callback: SentCallback, replier: Replier<CallbackReply>): number | undefined {
    const { endpoint, text, deadlineMs, isSigned, isTraced } = callback;
    const { codec, shardCount } = this.deps;
    const request = codec.read(endpoint, text);
    // The waiting replier keeps only these fields, not the whole request.
    const { id, productId, currency, username, command } = request;
    if (command === undefined) {
      replier.reply(codec.malformed(request, request.refusal));
      return undefined;
    }
    const shard = this.shards.get(shardOf(username, shardCount))?.shard;
    if (shard === undefined) return shardOf(username, shardCount);
    if (isSigned && this.isReplayed(endpoint, text)) {
      replier.reply(codec.reply(endpoint, request, REPLAYED));
      return undefined;
    }
    const to = isTraced ? this.tracing(command, replier) : replier;
    shard.submit({
      type: 'command',
      command,
      replier: {
        reply: (answer, readyMs) =>
          to.reply(codec.reply(endpoint, { id, productId, currency, username }, answer), readyMs),
      },
      deadlineMs,
    });
    return undefined;
  }

  /** True if the body was first sent to a different endpoint, so that it is refused here. */
  private isReplayed(endpoint: Endpoint, text: string): boolean {
    const first = this.firstEndpoints.first(endpoint, text, this.deps.clock.monotonicMs());
    if (first === endpoint) return false;
    this.deps.observer.replayed(first, endpoint);
    return true;
  }

  /** Adds to the reply the times at which the command was decided. */
  private tracing(command: Command, replier: Replier<CallbackReply>): Replier<CallbackReply> {
    const { turns } = this;
    if (turns === undefined) return replier;
    turns.expect(command);
    return { reply: (reply, readyMs) => replier.reply({ ...reply, turn: turns.take(command) }, readyMs) };
  }

  execute(shard: number, command: Command, deadlineMs: number, replier: Replier<Answer>): void {
    this.mustShard(shard).submit({ type: 'command', command, replier, deadlineMs });
  }

  ask(shard: number, query: Query, deadlineMs: number, replier: Replier<QueryResult | BusyAnswer>): void {
    this.mustShard(shard).submit({ type: 'query', query, replier, deadlineMs });
  }

  private mustShard(shard: number): Shard {
    return must(this.shards.get(shard), 'a caller asks the thread that has the shard').shard;
  }

  status(): ShardStatus[] {
    return [...this.shards.values()].map(({ shard, archive }) => ({
      shard: shard.id,
      state: shard.state,
      players: shard.playerCount,
      waiting: shard.waiting,
      head: shard.durableHead,
      timeMs: shard.timeMs,
      pendingAppendMs: shard.pendingAppendMs,
      reason: shard.reason,
      lacksNames: shard.state !== 'away' && archive?.isUnknown === true,
    }));
  }

  measures(): HostMeasures[] {
    // Shards on other nodes are measured by those nodes.
    const here = [...this.shards.values()].filter(({ shard }) => shard.state !== 'away');
    return here.map(({ shard, snapshots, archive }) => {
      const archived = archive?.measures;
      return {
        ...shard.measures,
        snapshot: snapshots.newest,
        taken: snapshots.taken,
        archive: archived && { ...archived, isUnknown: shard.isServing && archived.isUnknown },
      };
    });
  }

  metrics(): readonly Metric[] {
    return this.deps.metrics(this.measures(), this.firstEndpoints.measures(this.deps.clock.monotonicMs()));
  }

  /** The newest durable entry of each shard. */
  durable(): [shard: number, lsn: Lsn][] {
    return [...this.shards.values()].flatMap(({ shard: { id, durableHead } }) =>
      durableHead === undefined ? [] : [[id, durableHead.lsn]],
    );
  }

  takeSnapshots(pace: Pace): Promise<readonly SnapshotResult[]> {
    return this.snapshots.takeAll(pace);
  }

  /** Number of bytes that the shards' records use. */
  get recordBytes(): number {
    let bytes = 0;
    for (const { shard, archive } of this.shards.values()) bytes += shard.recordBytes.used + (archive?.bytes ?? 0);
    return bytes;
  }

  async close(): Promise<void> {
    this.stopSweeping();
    this.moves?.stop();
    this.housekeeper.stop();
    await Promise.race([this.archiver.save(), delay(this.deps.timers, SAVE_KEY_FILTER_MS)]);
    this.archiver.stop();
    await this.snapshots.close();
    await Promise.all([...this.shards.values()].map(({ orphansWritten }) => orphansWritten));
    await this.deps.onClose();
  }

  /** Frees the memory of all shards. No request may be pending. */
  discard(): void {
    for (const { shard } of this.shards.values()) shard.leave();
  }

  async drain(timeoutMs: number): Promise<boolean> {
    const { timers } = this.deps;
    this.stopSweeping();
    this.housekeeper.stop();
    const endMs = this.clock.monotonicMs() + timeoutMs;
    while (this.status().some((shard) => shard.waiting > 0)) {
      if (this.clock.monotonicMs() >= endMs) return false;
      await delay(timers, DRAIN_POLL_MS);
    }
    return true;
  }

  allowFormat(format: number): void {
    this.deps.allowFormat(format);
  }

  confirmTime(confirmed: ConfirmedTime): void {
    this.confirmed = confirmed;
  }

  async keepOrphans(): Promise<void> {
    await this.restarts.keepOrphans();
  }

  private sweep(): void {
    // Read the clock even if no entries are written, because it accepts a clock jump only after repeated readings.
    this.clock.now();
    for (const { shard, archive } of this.shards.values()) {
      shard.confirmOwnership();
      shard.expireRequests();
      if (shard.isElsewhere) followKeys(archive, shard.currentFollower?.left);
    }
    this.snapshots.takeDue();
    const expiredMs = this.expiredBeforeMs(undefined);
    if (expiredMs === undefined) return;
    const forgottenMs = Math.min(expiredMs, this.archiver.droppedBeforeMs);
    for (const { shard } of this.shards.values()) {
      shard.forgetSome(Math.ceil(shard.playerCount / SWEEPS_PER_PASS), forgottenMs);
    }
  }

  /** Items last changed before this time have expired. Undefined if nothing may be dropped or forgotten. */
  private expiredBeforeMs(serverMs: number | undefined): number | undefined {
    if (!this.clockWatch.isTrusted()) return undefined;
    return expiredBeforeMs(this.clock.now(), this.deps.rules.retentionMs, this.confirmed, serverMs);
  }
}

/** Updates the key filter of a shard that another node owns. `left` is undefined if this node does not follow it. */
function followKeys(archive: ShardArchive | undefined, left: EvictedKeys | undefined): void {
  if (left === undefined) archive?.forget();
  else archive?.follow(left);
}

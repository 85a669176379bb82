import { must } from '../base/assert.js';
import { messageOf } from '../base/message-of.js';
import type { Cancel, Timers } from '../base/timers.js';
import type { Shard } from '../engine/shard.js';
import { Follower, MissingEntryError, type Taking } from '../log/follower.js';
import { FencedError } from '../log/take-over.js';
import { OverdueError } from '../log/timely-append.js';
import { ATTEMPTS_AT_START, isPermanent } from '../ports/retry-policy.js';
import type { Head } from '../ports/wal.js';
import type { HostedShard, Load } from './hosted-shard.js';
import { HANDOVER_MS, type Move, type MoveResult } from './shards.js';
import { type TakeShardDeps, takeShard } from './take-shard.js';

export interface MoveDeps extends Omit<TakeShardDeps, 'attemptsMax'> {
  readonly genesis: (shard: number) => Head;
  readonly timers: Timers;
  readonly memory: { readonly isFull: boolean };
  /** Recovers a shard after a failed assertion. */
  readonly recover: (hosted: HostedShard) => Promise<void>;
}

/** Polling interval for the logs of followed shards. */
const FOLLOW_MS = 50;
/**
 * A log counts as quiet once this many reads in a row have found no new entries. Quiet logs are polled together, and
 * only in every third round.
 */
const QUIET_READS = 20;
const QUIET_EVERY = 3;
/** Maximum number of shards that are loaded from snapshots at the same time. Further shards wait in a queue. */
const RECOVERING_MAX = 2;
/**
 * Pause between two 2 ms slices when a shard is loaded and no callback waits for it. Two such loads take half of the
 * thread's time. Without pauses, answers took seconds during a rolling restart with a million players and nodes that
 * shared two cores.
 */
const REST_MS = 6;

/**
 * Minimum time between two unloads of followed shards for lack of memory, so that the effect of an unload is measured
 * before the next one.
 */
const EVICTION_PAUSE_MS = 2000;

const DONE: MoveResult = { type: 'done' };

/** Moves shards between nodes, for the shards of one thread. */
export class ShardMoves {
  private readonly deps: TakeShardDeps & MoveDeps;
  private stopFollowing: Cancel = () => {};
  private isReading = false;
  private round = 0;
  /** Loads in progress, in the order of their requests. */
  private readonly loads = new Set<Load>();
  /** Number of loads that read a snapshot. Further loads wait. */
  private recovering = 0;
  private madeRoomMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly shards: ReadonlyMap<number, HostedShard>,
    deps: MoveDeps,
  ) {
    this.deps = { ...deps, attemptsMax: ATTEMPTS_AT_START };
  }

  start(): void {
    this.stopFollowing = this.deps.timers.every(FOLLOW_MS, () => void this.readOn());
  }

  stop(): void {
    this.stopFollowing();
    for (const { cancelResume } of this.shards.values()) cancelResume();
  }

  /** Executes a move. Never rejects. */
  async move(move: Move): Promise<MoveResult> {
    const hosted = must(this.shards.get(move.shard), 'a move is asked of the thread that may have the shard');
    const { shard } = hosted;
    try {
      switch (move.type) {
        case 'follow':
          return await this.follow(hosted, false);
        case 'bring':
          return await this.follow(hosted, true);
        case 'take':
          return await this.take(hosted, move);
        case 'pause':
          return await this.pause(hosted);
        case 'resume':
          hosted.cancelResume();
          shard.resume();
          return DONE;
        case 'release':
          return this.release(hosted);
        case 'leave':
          if (shard.state === 'following' || shard.state === 'stopped') shard.leave();
          return DONE;
        case 'confirm':
          shard.confirmOwnership();
          return DONE;
        case 'recover':
          return await this.recover(hosted);
        case 'abandon':
          hosted.cancelResume();
          shard.abandon();
          return DONE;
        case 'stop':
          this.stopShard(shard, move.reason);
          return DONE;
      }
    } catch (error) {
      if (error instanceof FencedError) return { type: 'conflict', head: error.head };
      if (error instanceof MissingEntryError) return { type: 'short', head: error.head };
      const isOverdue = error instanceof OverdueError;
      return { type: 'failed', reason: messageOf(error), isPermanent: isPermanent(error) && !isOverdue };
    }
  }

  /** The result is `done` if the shard cannot recover yet, or if the recovery has stopped or unloaded it. */
  private async recover(hosted: HostedShard): Promise<MoveResult> {
    const { shard } = hosted;
    if (shard.canRecover) await this.deps.recover(hosted);
    return shard.isServing ? { type: 'taken', head: must(shard.durableHead, 'who serves has a log') } : DONE;
  }

  /** Loads the shard's wallets and follows its log. `isAwaited`: callbacks wait for the shard. */
  private follow(hosted: HostedShard, isAwaited: boolean): Promise<MoveResult> {
    hosted.load ??= this.beginLoad(hosted);
    hosted.load.isAwaited ||= isAwaited;
    return hosted.load.result;
  }

  private beginLoad(hosted: HostedShard): Load {
    const load: Load = { isAwaited: false, begin: undefined, result: Promise.resolve(DONE) };
    this.loads.add(load);
    load.result = this.load(hosted.shard, load).finally(() => {
      this.loads.delete(load);
      hosted.load = undefined;
    });
    return load;
  }

  private async load(shard: Shard, load: Load): Promise<MoveResult> {
    if (shard.state !== 'away') return DONE;
    // Read the head before taking a loading slot, because a shard whose server does not answer must not occupy a slot.
    await this.deps.wal.head(shard.id);
    if (this.recovering < RECOVERING_MAX) this.recovering++;
    else
      await new Promise<void>((begin) => {
        load.begin = begin;
      });
    try {
      if (this.deps.memory.isFull) throw new Error('memory is nearly full');
      const { id } = shard;
      const { yieldTurn, delay } = this.deps;
      const deps = { ...this.deps, yieldTurn: () => (this.isAnyAwaited ? yieldTurn() : delay(REST_MS)) };
      const follower = await Follower.begin({ shard: id, genesis: this.deps.genesis(id), mayBeShort: true }, deps);
      if (shard.state === 'away') shard.follow(follower);
      return DONE;
    } finally {
      this.passSlotOn();
    }
  }

  private get isAnyAwaited(): boolean {
    return [...this.loads].some(({ isAwaited }) => isAwaited);
  }

  /** Passes the slot of a load that has ended to a waiting load, first to one for which callbacks wait. */
  private passSlotOn(): void {
    const waiting = [...this.loads].filter(({ begin }) => begin !== undefined);
    const next = waiting.find(({ isAwaited }) => isAwaited) ?? waiting[0];
    if (next === undefined) {
      this.recovering--;
      return;
    }
    next.begin?.();
    next.begin = undefined;
  }

  /** Fences the shard's log and serves the shard. */
  private async take(hosted: HostedShard, taking: Taking): Promise<MoveResult> {
    const { shard } = hosted;
    if (shard.state === 'serving') return { type: 'taken', head: must(shard.durableHead, 'who serves has a log') };
    await this.follow(hosted, true);
    const follower = must(shard.currentFollower, 'what was warmed follows');
    try {
      return { type: 'taken', head: await takeShard(hosted, follower, taking, this.deps) };
    } catch (error) {
      // The entries that have been read do not lead to the log's current content, but a snapshot may. Unload the shard,
      // so that it is loaded again from the snapshot.
      if (
        isPermanent(error) &&
        !(error instanceof FencedError || error instanceof MissingEntryError || error instanceof OverdueError) &&
        shard.state === 'following'
      )
        shard.leave();
      throw error;
    }
  }

  private async pause(hosted: HostedShard): Promise<MoveResult> {
    const { shard } = hosted;
    if (shard.state !== 'serving') return { type: 'failed', reason: 'it is not serving', isPermanent: false };
    hosted.cancelResume();
    hosted.cancelResume = this.deps.timers.after(HANDOVER_MS, () => shard.resume());
    const head = await shard.pause();
    return head === undefined
      ? { type: 'failed', reason: 'its decisions did not become durable in time', isPermanent: false }
      : { type: 'still', head };
  }

  /** Another owner has fenced the paused shard. Keeps the wallets and follows the new owner's log. */
  private release({ shard, cancelResume }: HostedShard): MoveResult {
    cancelResume();
    const reached = shard.tryReached();
    if (reached !== undefined) shard.follow(new Follower(shard.id, reached));
    // The shard has already resumed. If there is a new owner, its fence is found by the next append.
    else shard.confirmOwnership();
    return DONE;
  }

  /** Stops a shard because no node can continue its log. */
  private stopShard(shard: Shard, reason: string): void {
    if (shard.state === 'following') shard.leave();
    if (shard.state !== 'away') return;
    shard.stop(reason);
    this.deps.log.error(
      { code: 'shard-takeover-failed', shard: shard.id, error: reason },
      'shard takeover failed, shard stopped',
    );
  }

  /** Polls the logs of all followed shards once. Polling rounds never overlap. */
  private async readOn(): Promise<void> {
    if (this.isReading) return;
    this.isReading = true;
    this.round++;
    const following = [...this.shards.values()].flatMap(({ shard }) => (shard.state === 'following' ? [shard] : []));
    if (this.deps.memory.isFull) this.makeRoom(following);
    await Promise.all(following.map((shard) => this.readOne(shard)));
    this.isReading = false;
  }

  /** Frees memory for served shards by unloading the followed shard that takes the most memory. */
  private makeRoom(following: readonly Shard[]): void {
    const spare = following.filter(({ currentFollower }) => currentFollower?.isTaking === false);
    const [largest] = spare.sort((a, b) => b.recordBytes.all - a.recordBytes.all);
    const nowMs = this.deps.clock.monotonicMs();
    if (largest === undefined || nowMs - this.madeRoomMs < EVICTION_PAUSE_MS) return;
    this.madeRoomMs = nowMs;
    this.deps.log.warn({ code: 'standby-dropped', shard: largest.id }, 'memory is nearly full, unloaded a follower');
    largest.leave();
  }

  private async readOne(shard: Shard): Promise<void> {
    const follower = shard.currentFollower;
    if (follower === undefined) return;
    if (follower.quietReads > QUIET_READS && this.round % QUIET_EVERY !== 0) return;
    try {
      await follower.readOn(this.deps, this.deps.yieldTurn);
    } catch (error) {
      if (!isPermanent(error) || shard.currentFollower !== follower) return;
      this.deps.log.warn(
        { code: 'standby-restarted', shard: shard.id, reason: messageOf(error) },
        'follower cannot follow the log, reloading the shard',
      );
      shard.leave();
    }
  }
}

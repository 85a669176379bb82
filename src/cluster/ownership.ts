import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { messageOf } from '../base/message-of.js';
import { delay, type Timers } from '../base/timers.js';
import { formatLsn } from '../ports/lsn.js';
import type { Claim, RegistryView } from '../ports/table.js';
import { type Head, isSameHead } from '../ports/wal.js';
import { HANDOVER_MS, type Move, type MoveResult, type ShardStatus, type Shards } from '../threads/shards.js';
import type { PeerMessage } from './peer-protocol.js';
import { NOBODY } from './plan.js';
import { type Holder, nextStep, type Role, type ShardFacts, type Step } from './steps.js';
import type { Told } from './told.js';
import { STUCK_MS, type Watch } from './watch.js';

/** Receives the outcomes of takeovers and handovers, for metrics. */
export interface OwnershipObserver {
  /** This node took over the shard in `tookMs`. */
  taken(shard: number, how: 'handed-over' | 'taken', tookMs: number): void;
  /** This node paused the shard for `pausedMs`. `isHanded` is true if the new owner has it now. */
  paused(shard: number, pausedMs: number, isHanded: boolean): void;
}

export interface OwnershipDeps {
  readonly tag: string;
  readonly shardCount: number;
  readonly local: Pick<Shards, 'move' | 'status' | 'isMemoryFull'>;
  readonly watch: Watch;
  readonly told: Told;
  /** Undefined until the registry has answered. */
  readonly view: () => RegistryView | undefined;
  readonly isLinked: (tag: string) => boolean;
  readonly send: (tag: string, message: PeerMessage) => boolean;
  readonly broadcast: (message: PeerMessage) => void;
  /** Append queue of the shard. Shards with the same queue are on one server; see `Wal.appendQueueOf`. */
  readonly appendQueueOf: (shard: number) => number;
  /** Reads the current head of the shard's log. Rejects during an outage. */
  readonly headOf: (shard: number) => Promise<Head>;
  /**
   * Converts a time on this node's monotonic clock to the peer's monotonic clock. Undefined before the peer's first
   * heartbeat.
   */
  readonly toTheirClock: (tag: string, ourMs: number) => number | undefined;
  readonly claim: (shard: number, claim: Claim) => Promise<void>;
  readonly release: (shard: number, claim: Claim) => Promise<void>;
  /** False if this node's clock cannot be trusted. The node then takes no shards. */
  readonly isClockSane: () => boolean;
  /** Called when this node begins to serve a shard (with its epoch) or stops serving it. */
  readonly onServed: (shard: number, epoch: number | undefined) => void;
  readonly observer: OwnershipObserver;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Logger;
}

/** This node's state for one shard. */
interface ReplicaState {
  readonly shard: number;
  /** True while an action for this shard is running. */
  isBusy: boolean;
  /** How the shard is being loaded; undefined if it is not being loaded. */
  reading: 'follow' | 'bring' | undefined;
  /** When the last handover ended without the new owner taking the shard. */
  keptMs: number;
  /** When this node became able to take the shard; undefined if it cannot take it. */
  readySinceMs: number | undefined;
  /** When this node began to leave the shard to a live owner, because this node lacks the archive's key filter. */
  namelessSinceMs: number | undefined;
  /** When the log of a shard that this node should take stopped answering; undefined if it answers. */
  unseenSinceMs: number | undefined;
  /** When the log was first found to lack acknowledged entries. */
  shortSinceMs: number | undefined;
  /**
   * Number of consecutive permanent failures. The first few are retried, because the log may have been trimmed while it
   * was read, or may be under repair.
   */
  failures: number;
  /** When the new owner was first seen alive without a link to this node. */
  newOwnerUnlinkedSinceMs: number | undefined;
  /** When the thread that served the shard ended. */
  lostMs: number;
  /** Head of the log when the shard was stopped here. */
  stoppedAt: Head | undefined;
  /** When the head was last read. */
  lookedMs: number;
  /** When a handover was last requested. */
  wantedMs: number;
  /** Called when a peer announces that it has served the shard since this epoch. */
  onOwn: ((tag: string, epoch: number) => void) | undefined;
  /** Last problem that was logged. It is not logged again. */
  problem: string | undefined;
}

/** Number of leading hexadecimal digits of a nonce that identify its process. */
const TAG_LENGTH = 8;
/** Maximum number of entries that the new owner may still lack. It reads them while the old owner is paused. */
const LAG_MAX = 64;
const HANDOVERS_MAX = 2;
/** An append that takes this long shows that its server is slow. */
const WAITING_MS = 500;
/**
 * How long a handover offer is valid. The old owner then resumes, and a fence would only take the shard away from it
 * again.
 */
const OFFER_MS = 500;
const WANT_MS = 200;
/**
 * Minimum time that an owner serves after a failed handover, before the next pause. Without this, the shard would be
 * paused most of the time.
 */
const KEPT_MS = 1000;
const LOOK_MS = 50;
/** Time in which an owner that lost the end of its log in a failover can append the lost entries again. */
const SHORT_WAIT_MS = 5000;
const FAILURES_MAX = 4;
/** Maximum wait for the key filter. An archive that answers delivers it sooner. */
const NAMELESS_MS = 3000;
/** Start time of a problem that has been logged and must not be logged again. */
const LOGGED = Number.NEGATIVE_INFINITY;
/** After the thread of a shard ends, this node leaves the shard to its followers for this long. */
const LOST_MS = 3000;
const PERMANENT_REST_MS = 1500;

/** Takes, hands over, follows and unloads shards until this node matches the shard assignment. */
export class Ownership {
  private readonly replicaStates: readonly ReplicaState[];
  /** Epoch in which each shard is served here. */
  private readonly served = new Map<number, number>();
  /** Epoch of each released shard, until the registry records the release. */
  private readonly released = new Map<number, number>();
  private handovers = 0;
  private hasEnded = false;

  constructor(private readonly deps: OwnershipDeps) {
    this.replicaStates = Array.from({ length: deps.shardCount }, (_, shard) => ({
      shard,
      isBusy: false,
      reading: undefined,
      keptMs: Number.NEGATIVE_INFINITY,
      readySinceMs: undefined,
      namelessSinceMs: undefined,
      unseenSinceMs: undefined,
      shortSinceMs: undefined,
      failures: 0,
      lostMs: Number.NEGATIVE_INFINITY,
      stoppedAt: undefined,
      newOwnerUnlinkedSinceMs: undefined,
      lookedMs: Number.NEGATIVE_INFINITY,
      wantedMs: Number.NEGATIVE_INFINITY,
      onOwn: undefined,
      problem: undefined,
    }));
  }

  serves(shard: number): boolean {
    return this.served.has(shard);
  }

  /** Number of shards that this node serves or is handing over. */
  get heldCount(): number {
    return this.deps.local.status().filter(({ state }) => state === 'serving' || state === 'handing').length;
  }

  /** Must be called after every change, and also periodically. Does nothing while there is no assignment. */
  tick(): void {
    const view = this.deps.view();
    if (view === undefined || this.hasEnded) return;
    const nowMs = this.deps.clock.monotonicMs();
    const all = this.deps.local.status();
    const bringsOwn = all.some((status) => this.isLoadingOwn(status, view));
    for (const status of all) {
      const replicaState = this.replicaState(status.shard);
      if (!replicaState.isBusy) this.noteStatus(status);
      if (replicaState.reading === 'follow' && this.isAwaited(replicaState)) this.hurry(replicaState);
      if (replicaState.isBusy || view.plan === undefined) continue;
      this.lookAhead(replicaState, view, nowMs);
      const facts = this.factsOf(replicaState, status, view, nowMs, bringsOwn);
      const step = nextStep(facts);
      if (step !== undefined) this.begin(replicaState, step, facts, nowMs);
    }
  }

  /** Handles a handover request from the assigned new owner, which has read the log up to `sequence`. */
  wanted(shard: number, by: string, sequence: number): void {
    const { view, local } = this.deps;
    const replicaState = this.replicaStates[shard];
    if (replicaState === undefined || replicaState.isBusy || view()?.plan?.owners[shard] !== by) return;
    const status = local.status()[shard];
    if (status?.state !== 'serving' || this.handovers >= HANDOVERS_MAX) return;
    if (this.deps.clock.monotonicMs() - replicaState.keptMs < KEPT_MS) return;
    if ((status.head?.lsn.sequence ?? 0) - sequence > LAG_MAX) return;
    void this.handOver(replicaState, by);
  }

  /** Handles a handover offer. The owner has stopped at `head`, and this node may take the shard before `untilMs`. */
  offered(shard: number, head: Head, untilMs: number): void {
    const replicaState = this.replicaStates[shard];
    if (replicaState === undefined || replicaState.isBusy || this.roleIn(shard, this.deps.view()) !== 'owner') return;
    if (this.deps.clock.monotonicMs() >= untilMs) return;
    void this.busily(replicaState, () => this.take(replicaState, head, 'handed-over'));
  }

  /** Handles a peer's announcement that it has served the shard since the fence of this epoch. */
  ownedBy(tag: string, shard: number, epoch: number): void {
    const replicaState = this.replicaStates[shard];
    if (replicaState === undefined) return;
    replicaState.onOwn?.(tag, epoch);
    const mine = this.served.get(shard);
    if (mine === undefined || mine >= epoch || replicaState.isBusy) return;
    // Do not confirm ownership with the log. After a failover that lost the other owner's fence, the log would still
    // name this node.
    void this.move({ type: 'abandon', shard });
  }

  /** Handles a conflict that an append found: the log has another owner. */
  fenced(shard: number, head: Head): void {
    this.deps.watch.headSeen(shard, head, this.deps.clock.monotonicMs());
    this.setServed(shard, undefined);
  }

  /** Checks that each served log still belongs to this node. */
  confirmAll(): void {
    for (const shard of this.served.keys()) void this.move({ type: 'confirm', shard });
  }

  /** Releases all served shards to their next owners, and takes no new ones. */
  async end(): Promise<void> {
    this.hasEnded = true;
    await Promise.all([...this.served.keys()].map((shard) => this.releaseNow(this.replicaState(shard))));
  }

  /** Shards that this node serves or should take, and whose logs do not answer. */
  stuck(): number[] {
    const nowMs = this.deps.clock.monotonicMs();
    return this.deps.local.status().flatMap(({ shard, pendingAppendMs }) => {
      const unseenMs = nowMs - (this.replicaState(shard).unseenSinceMs ?? nowMs);
      return Math.max(pendingAppendMs, unseenMs) >= STUCK_MS ? [shard] : [];
    });
  }

  /** Shards that this node should take but has no memory for. */
  refused(): number[] {
    const { local, view } = this.deps;
    if (!local.isMemoryFull) return [];
    return local.status().flatMap(({ shard, state }) => {
      const isRefused = state === 'away' && this.replicaState(shard).problem !== undefined;
      return isRefused && this.roleIn(shard, view()) === 'owner' ? [shard] : [];
    });
  }

  /** Shards whose thread on this node has just ended. A follower can serve them sooner than this node. */
  lost(): number[] {
    const nowMs = this.deps.clock.monotonicMs();
    return this.replicaStates.flatMap((replicaState) => (this.isLost(replicaState, nowMs) ? [replicaState.shard] : []));
  }

  private isLost({ shard, lostMs }: ReplicaState, nowMs: number): boolean {
    const { view, watch } = this.deps;
    const followers = view()?.plan?.followers[shard] ?? [];
    return nowMs - lostMs < LOST_MS && followers.some((tag) => !watch.isGone(tag, nowMs));
  }

  /**
   * True if this node could serve the shard, regardless of its current owner. The log must answer, and no append to the
   * same server may be waiting. If that server or its replicas are slow, all of the server's shards are affected.
   */
  reaches(shard: number): boolean {
    const { watch, clock, local, appendQueueOf } = this.deps;
    if (!watch.isReachedSteadily(shard, clock.monotonicMs())) return false;
    const lane = appendQueueOf(shard);
    return !local.status().some((other) => appendQueueOf(other.shard) === lane && other.pendingAppendMs >= WAITING_MS);
  }

  /** Rewrites ownership records and releases that the registry lacks. */
  reclaim({ claims }: RegistryView): void {
    const { tag, claim } = this.deps;
    for (const [shard, epoch] of this.released) {
      const found = claims.get(shard);
      const isKnown = found !== undefined && (found.epoch > epoch || (found.epoch === epoch && found.tag !== tag));
      if (isKnown) this.released.delete(shard);
      else this.writeReleased(shard, epoch).catch(() => {});
    }
    for (const [shard, epoch] of this.served) {
      const found = claims.get(shard);
      if (found === undefined || found.epoch < epoch) claim(shard, { epoch, tag }).catch(() => {});
    }
  }

  private replicaState(shard: number): ReplicaState {
    return this.replicaStates[shard] as ReplicaState;
  }

  /** Handles changes that the shard made on its own. It may have failed and recovered, or its thread may have ended. */
  private noteStatus({ shard, state, head }: ShardStatus): void {
    if (head !== undefined && state === 'serving') this.deps.told.note(shard, head);
    const epoch = state === 'serving' ? head?.lsn.epoch : undefined;
    if (state === 'away' && this.served.has(shard)) this.replicaState(shard).lostMs = this.deps.clock.monotonicMs();
    if (this.served.get(shard) !== epoch) this.setServed(shard, epoch);
  }

  private setServed(shard: number, epoch: number | undefined): void {
    const { tag, claim, broadcast, onServed } = this.deps;
    if (epoch === undefined) {
      if (this.served.delete(shard)) onServed(shard, undefined);
      return;
    }
    this.served.set(shard, epoch);
    this.released.delete(shard);
    onServed(shard, epoch);
    broadcast({ type: 'own', shard, epoch });
    // If this record is lost, `reclaim` writes it again.
    claim(shard, { epoch, tag }).catch(() => {});
  }

  /** Reads the head early if the owner may be dead, because knowing that the log is idle saves time later. */
  private lookAhead(replicaState: ReplicaState, { claims }: RegistryView, nowMs: number): void {
    const { shard } = replicaState;
    const { watch, tag } = this.deps;
    const owner = claims.get(shard)?.tag;
    if (owner === undefined || owner === NOBODY || owner === tag) return;
    if (watch.isSuspect(owner, nowMs) || watch.isStuck(owner, shard)) this.look(replicaState, nowMs);
  }

  private roleIn(shard: number, view: RegistryView | undefined): Role {
    const { tag } = this.deps;
    if (view?.plan?.owners[shard] === tag) return 'owner';
    return view?.plan?.followers[shard]?.includes(tag) ? 'follower' : 'none';
  }

  /** True if this node should serve the shard and is loading it without problems so far. */
  private isLoadingOwn({ shard, state }: ShardStatus, view: RegistryView): boolean {
    return state === 'away' && this.replicaState(shard).problem === undefined && this.roleIn(shard, view) === 'owner';
  }

  private factsOf(
    replicaState: ReplicaState,
    status: ShardStatus,
    view: RegistryView,
    nowMs: number,
    bringsOwn: boolean,
  ): ShardFacts {
    const { shard } = replicaState;
    const role = this.roleIn(shard, view);
    const isReady = role === 'owner' && status.state === 'following' && this.deps.isClockSane();
    const holder = isReady ? this.holderOf(shard, view, nowMs) : 'unknown';
    this.noteNames(replicaState, status.lacksNames && holder === 'alive', nowMs);
    replicaState.readySinceMs = isReady && !status.lacksNames ? (replicaState.readySinceMs ?? nowMs) : undefined;
    const isUnseen = isReady && this.deps.watch.headOf(shard) === undefined;
    replicaState.unseenSinceMs = isUnseen ? (replicaState.unseenSinceMs ?? nowMs) : undefined;
    this.noteNewOwner(replicaState, view.plan?.owners[shard] ?? NOBODY, nowMs);
    return {
      role,
      local: status.state,
      bringsOwn,
      holder,
      isStill: this.deps.watch.isStill(shard, nowMs),
      hasMoved: this.hasMoved(replicaState, status),
      lacksNames: status.lacksNames,
      readyForMs: nowMs - (replicaState.readySinceMs ?? nowMs),
      newOwnerUnlinkedForMs: nowMs - (replicaState.newOwnerUnlinkedSinceMs ?? nowMs),
    };
  }

  /** Records how long the shard has stayed with a live owner, which can take new bets while this node cannot. */
  private noteNames(replicaState: ReplicaState, isLeft: boolean, nowMs: number): void {
    const sinceMs = replicaState.namelessSinceMs;
    replicaState.namelessSinceMs = isLeft ? (sinceMs ?? nowMs) : undefined;
    if (!isLeft || sinceMs === undefined || sinceMs === LOGGED || nowMs - sinceMs < NAMELESS_MS) return;
    replicaState.namelessSinceMs = LOGGED;
    this.deps.log.warn(
      { code: 'shard-left-to-owner', shard: replicaState.shard },
      'archive does not answer, shard stays with its owner',
    );
  }

  /** True if the log has changed since the shard was stopped here. */
  private hasMoved(replicaState: ReplicaState, { state }: ShardStatus): boolean {
    const head = this.deps.watch.headOf(replicaState.shard);
    replicaState.stoppedAt = state === 'stopped' ? (replicaState.stoppedAt ?? head) : undefined;
    return head !== undefined && replicaState.stoppedAt !== undefined && !isSameHead(head, replicaState.stoppedAt);
  }

  private noteNewOwner(replicaState: ReplicaState, heir: string, nowMs: number): void {
    const { tag, watch, isLinked } = this.deps;
    const isAway = heir !== NOBODY && heir !== tag && !isLinked(heir) && !watch.isGone(heir, nowMs);
    replicaState.newOwnerUnlinkedSinceMs = isAway ? (replicaState.newOwnerUnlinkedSinceMs ?? nowMs) : undefined;
  }

  private holderOf(shard: number, view: RegistryView, nowMs: number): Holder {
    const { tag, watch } = this.deps;
    const head = watch.headOf(shard);
    if (head === undefined) return 'unknown';
    const holder = tagOf(head);
    const claim = view.claims.get(shard);
    if (head.lsn.epoch === 0 || (claim?.epoch === head.lsn.epoch && claim.tag === NOBODY)) return 'nobody';
    if (holder === tag) return 'me';
    if (watch.isStuck(holder, shard)) return 'stuck';
    return watch.isGone(holder, nowMs) ? 'gone' : 'alive';
  }

  private begin(replicaState: ReplicaState, step: Step, { holder }: ShardFacts, nowMs: number): void {
    const { shard } = replicaState;
    switch (step) {
      case 'look':
        this.look(replicaState, nowMs);
        return;
      case 'want':
        this.look(replicaState, nowMs);
        this.want(replicaState, nowMs);
        return;
      case 'follow':
        if (this.isLost(replicaState, nowMs)) return;
        void this.busily(replicaState, () => this.follow(replicaState));
        return;
      case 'take': {
        const over = holder === 'gone' || holder === 'stuck' ? this.deps.watch.headOf(shard) : undefined;
        void this.busily(replicaState, () => this.take(replicaState, over, 'taken'));
        return;
      }
      case 'force':
        void this.busily(replicaState, () => this.take(replicaState, undefined, 'taken'));
        return;
      case 'release':
        void this.releaseNow(replicaState);
        return;
      case 'resume':
      case 'leave':
        void this.busily(replicaState, () => this.change(replicaState, step));
        return;
    }
  }

  /** Runs one action at a time per shard. When it ends, starts the next one at once. */
  private async busily(replicaState: ReplicaState, run: () => Promise<void>): Promise<void> {
    replicaState.isBusy = true;
    try {
      await run();
    } finally {
      replicaState.isBusy = false;
    }
    this.tick();
  }

  private move(move: Move): Promise<MoveResult> {
    return this.deps.local.move(move);
  }

  private look(replicaState: ReplicaState, nowMs: number): void {
    if (nowMs - replicaState.lookedMs < LOOK_MS) return;
    replicaState.lookedMs = nowMs;
    const { headOf, watch, clock } = this.deps;
    headOf(replicaState.shard).then(
      (head) => watch.headSeen(replicaState.shard, head, clock.monotonicMs()),
      () => watch.headUnseen(replicaState.shard),
    );
  }

  private want(replicaState: ReplicaState, nowMs: number): void {
    if (nowMs - replicaState.wantedMs < WANT_MS) return;
    replicaState.wantedMs = nowMs;
    const { shard } = replicaState;
    const head = this.deps.watch.headOf(shard);
    const sequence = this.readUpTo(shard);
    if (head !== undefined) this.deps.send(tagOf(head), { type: 'want', shard, sequence });
  }

  /** Sequence up to which the shard's log is loaded here; 0 if it is not loaded. */
  private readUpTo(shard: number): number {
    return this.deps.local.status()[shard]?.head?.lsn.sequence ?? 0;
  }

  private async change({ shard }: ReplicaState, type: 'resume' | 'leave'): Promise<void> {
    const result = await this.move({ type, shard });
    // The action fails if the thread has ended. Without a pause, the action would repeat endlessly and block all
    // others.
    if (result.type === 'failed') await delay(this.deps.timers, WANT_MS);
  }

  /** True if callbacks wait for this shard: this node should serve it, and no live owner serves it. */
  private isAwaited({ shard }: ReplicaState): boolean {
    const { tag, watch, clock } = this.deps;
    const view = this.deps.view();
    if (this.roleIn(shard, view) !== 'owner') return false;
    const owner = view?.claims.get(shard)?.tag ?? NOBODY;
    if (owner === NOBODY || owner === tag) return true;
    return watch.isGone(owner, clock.monotonicMs()) || watch.isStuck(owner, shard);
  }

  /** Stops throttling a load whose shard has just lost its owner. */
  private hurry(replicaState: ReplicaState): void {
    replicaState.reading = 'bring';
    void this.move({ type: 'bring', shard: replicaState.shard });
  }

  private async follow(replicaState: ReplicaState): Promise<void> {
    const type = this.isAwaited(replicaState) ? 'bring' : 'follow';
    replicaState.reading = type;
    const result = await this.move({ type, shard: replicaState.shard });
    replicaState.reading = undefined;
    if (result.type !== 'failed') {
      replicaState.problem = undefined;
      replicaState.failures = 0;
      return;
    }
    await this.noteFailure(replicaState, result);
  }

  /** Fences the log. The log must end in `over`, if it is defined. */
  private async take(replicaState: ReplicaState, over: Head | undefined, how: 'handed-over' | 'taken'): Promise<void> {
    const { shard } = replicaState;
    const { clock, watch, observer, log, told } = this.deps;
    const startedMs = clock.monotonicMs();
    const result = await this.move({ type: 'take', shard, over, told: told.of(shard) });
    switch (result.type) {
      case 'taken': {
        const tookMs = clock.monotonicMs() - startedMs;
        replicaState.problem = undefined;
        replicaState.shortSinceMs = undefined;
        replicaState.failures = 0;
        this.setServed(shard, result.head.lsn.epoch);
        observer.taken(shard, how, tookMs);
        log.info({ shard, epoch: result.head.lsn.epoch, how, tookMs: Math.round(tookMs) }, 'shard taken over');
        return;
      }
      case 'conflict':
        watch.headSeen(shard, result.head, clock.monotonicMs());
        return;
      case 'short':
        watch.headSeen(shard, result.head, clock.monotonicMs());
        await this.noteShort(replicaState, result.head);
        return;
      case 'failed':
        await this.noteFailure(replicaState, result);
        return;
      default:
        return;
    }
  }

  /**
   * Waits for the node that acknowledged more entries, because it may be alive and append them again. Stops the shard
   * after `SHORT_WAIT_MS`.
   */
  private async noteShort(replicaState: ReplicaState, head: Head): Promise<void> {
    const { clock, told } = this.deps;
    const nowMs = clock.monotonicMs();
    replicaState.shortSinceMs ??= nowMs;
    const { shard } = replicaState;
    if (nowMs - replicaState.shortSinceMs < SHORT_WAIT_MS) {
      await delay(this.deps.timers, WANT_MS);
      return;
    }
    const { lsn } = told.of(shard) ?? head;
    const by = this.deps.view()?.members.get(tagOf(head))?.name ?? `the process ${tagOf(head)}`;
    const reason =
      lsn.sequence > head.lsn.sequence
        ? `its log ends at ${formatLsn(head.lsn)}, but ${formatLsn(lsn)} was acknowledged by ${by}: ` +
          'start that node if it still has the missing entries, or run walletd accept-loss'
        : `its log has a different entry in the place of ${formatLsn(lsn)}, which was acknowledged: run walletd accept-loss`;
    await this.move({ type: 'stop', shard, reason });
  }

  private async noteFailure(
    replicaState: ReplicaState,
    { reason, isPermanent }: Extract<MoveResult, { type: 'failed' }>,
  ) {
    const { shard } = replicaState;
    const isMine = this.roleIn(shard, this.deps.view()) === 'owner';
    if (isPermanent && isMine && ++replicaState.failures >= FAILURES_MAX) {
      await this.move({ type: 'stop', shard, reason });
      return;
    }
    if (replicaState.problem !== reason)
      this.deps.log.warn({ code: 'shard-move-failed', shard, reason }, 'cannot load or take over a shard, will retry');
    replicaState.problem = reason;
    await delay(this.deps.timers, isPermanent ? PERMANENT_REST_MS : WANT_MS);
  }

  /** Pauses the shard at its current head, and lets the new owner fence exactly this head. */
  private async handOver(replicaState: ReplicaState, to: string): Promise<void> {
    const { shard } = replicaState;
    const { clock, observer, timers } = this.deps;
    const startedMs = clock.monotonicMs();
    this.handovers++;
    await this.busily(replicaState, async () => {
      const epoch = this.served.get(shard);
      this.setServed(shard, undefined);
      const paused = await this.move({ type: 'pause', shard });
      let isOwned = false;
      const untilMs = this.deps.toTheirClock(to, startedMs + OFFER_MS);
      const isStill = paused.type === 'still' && untilMs !== undefined;
      if (isStill && this.deps.send(to, { type: 'take', shard, head: paused.head, untilMs })) {
        this.deps.told.note(shard, paused.head);
        isOwned = await new Promise<boolean>((resolve) => {
          replicaState.onOwn = (tag, newer) => {
            if (tag === to && newer > paused.head.lsn.epoch) resolve(true);
          };
          timers.after(startedMs + HANDOVER_MS - clock.monotonicMs(), () => resolve(false));
        });
        replicaState.onOwn = undefined;
      }
      await this.move({ type: isOwned ? 'release' : 'resume', shard });
      observer.paused(shard, clock.monotonicMs() - startedMs, isOwned);
      if (!isOwned) replicaState.keptMs = clock.monotonicMs();
      if (!isOwned && epoch !== undefined && this.deps.local.status()[shard]?.state === 'serving') {
        this.setServed(shard, epoch);
      }
    });
    this.handovers--;
  }

  /** Releases the shard for a new owner that has no link to this node or is not known yet. */
  private async releaseNow(replicaState: ReplicaState): Promise<void> {
    const { shard } = replicaState;
    const { log } = this.deps;
    const epoch = this.served.get(shard);
    if (replicaState.isBusy || epoch === undefined) return;
    await this.busily(replicaState, async () => {
      this.setServed(shard, undefined);
      const paused = await this.move({ type: 'pause', shard });
      // A shard with pending appends cannot be released. Abandon it if an append has been pending for a long time,
      // because the append may never complete: for example, if this node cannot reach the store.
      const otherwise = this.stuck().includes(shard) ? 'abandon' : 'resume';
      const type = paused.type === 'still' ? 'release' : otherwise;
      await this.move({ type, shard });
      if (type === 'resume') return;
      this.released.set(shard, epoch);
      await this.writeReleased(shard, epoch).catch((error) => {
        log.warn(
          { code: 'release-not-recorded', shard, error: messageOf(error) },
          'cannot record the release of a shard yet',
        );
      });
    });
  }

  /**
   * Records the release. The registry accepts a release only from the recorded owner, and that record may have been
   * lost.
   */
  private async writeReleased(shard: number, epoch: number): Promise<void> {
    const { tag, claim, release } = this.deps;
    await claim(shard, { epoch, tag });
    await release(shard, { epoch, tag });
  }
}

/** Tag of the owner that wrote this head. Every nonce begins with its owner's tag. */
export function tagOf({ nonce }: Head): string {
  return nonce.slice(0, TAG_LENGTH);
}

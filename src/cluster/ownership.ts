import type { Logger } from '../base/logger.js';
import { messageOf } from '../base/message-of.js';
import { delay, type Timers } from '../base/timers.js';
import type { Claim } from '../ports/table.js';
import type { Head } from '../ports/wal.js';
import type { Effect } from '../replica/effect.js';
import { type Explanation, explain } from '../replica/explain.js';
import type { Facts } from '../replica/facts.js';
import type { Input } from '../replica/input.js';
import { epochOf, stateOf } from '../replica/observe.js';
import type { Cause, Replica } from '../replica/replica.js';
import { isHeldHere, isLost, isStuck } from '../replica/reported.js';
import { transition } from '../replica/transition.js';
import type { Move, MoveResult, ShardStatus } from '../threads/shards.js';
import { type ClusterShard, noteAcknowledged } from './cluster-shard.js';
import { type FactDeps, FactFinder } from './fact-finder.js';
import type { PeerMessage } from './peer-protocol.js';

/** Receives the outcomes of takeovers and handovers, for metrics. */
export interface OwnershipObserver {
  /** This node took over the shard in `tookMs`. */
  taken(shard: number, how: 'handed-over' | 'taken', tookMs: number): void;
  /** This node paused the shard for `pausedMs`. `isHanded` is true if the new owner has it now. */
  paused(shard: number, pausedMs: number, isHanded: boolean): void;
}

export interface OwnershipDeps extends FactDeps {
  readonly shards: readonly ClusterShard[];
  readonly send: (tag: string, message: PeerMessage) => boolean;
  readonly broadcast: (message: PeerMessage) => void;
  /** Append queue of the shard. Shards with the same queue are on one server; see `Wal.appendQueueOf`. */
  readonly appendQueueOf: (shard: number) => number;
  /** Reads the current head of the shard's log. Rejects during an outage. */
  readonly headOf: (shard: number) => Promise<Head>;
  readonly claim: (shard: number, claim: Claim) => Promise<void>;
  readonly release: (shard: number, claim: Claim) => Promise<void>;
  /** Called when this node begins to serve a shard (with its epoch) or stops serving it. */
  readonly onServed: (shard: number, epoch: number | undefined) => void;
  readonly observer: OwnershipObserver;
  readonly timers: Timers;
  readonly log: Logger;
}

/** An append that takes this long shows that its server is slow. */
const WAITING_MS = 500;
/** Maximum time in which a process that ends releases its shards. A pause and a hand-over take less than half of it. */
const END_MS = 2000;
const END_TICK_MS = 10;
/** Causes of a wait that only a message, a new view of the registry or a change on the shard's thread ends. */
const CALM: readonly Cause[] = ['nothing', 'elsewhere'];

/**
 * Runs the replicas of this node: collects their inputs and facts, and carries out their effects. All decisions are in
 * `src/replica/transition.ts`.
 */
export class Ownership {
  private readonly facts: FactFinder;
  /** Releases that are being written to the registry. */
  private readonly recording = new Set<Promise<void>>();

  constructor(private readonly deps: OwnershipDeps) {
    this.facts = new FactFinder(deps, deps.shards);
  }

  serves(shard: number): boolean {
    return this.replicaOf(shard)?.epoch !== undefined;
  }

  /** Number of shards that this node serves or is handing over. */
  get heldCount(): number {
    return this.deps.local.status().filter(({ state }) => state === 'serving' || state === 'handing').length;
  }

  /** The explanation of each shard's state, for operators. */
  get explanations(): readonly Explanation[] {
    const { clock, view } = this.deps;
    const nowMs = clock.monotonicMs();
    const aheadMs = clock.now() - nowMs;
    const members = view()?.members;
    return this.replicas.map((replica) => explain(replica, nowMs, aheadMs, (tag) => members?.get(tag)?.name ?? tag));
  }

  /** True if no replica is about to act, and the threads have changed none since the last tick. */
  isCalm(statuses: readonly ShardStatus[]): boolean {
    return this.replicas.every(({ shard, state, epoch, wait }) => {
      const local = statuses[shard] as ShardStatus;
      return CALM.includes(wait.cause) && state === stateOf(local.state) && epoch === epochOf(local);
    });
  }

  /** Must be called after every change, and also periodically. */
  tick(): void {
    if (this.deps.view() === undefined) return;
    const factsOf = this.facts.now();
    for (const { shard } of this.deps.shards) this.run(shard, { type: 'tick' }, factsOf(shard));
  }

  /** Handles a handover request from the assigned new owner, which has read the log up to `sequence`. */
  wanted(shard: number, by: string, sequence: number): void {
    this.give(shard, { type: 'wanted', by, sequence });
  }

  /** Handles a handover offer. The owner has stopped at `head`, and this node may take the shard before `untilMs`. */
  offered(shard: number, head: Head, untilMs: number): void {
    this.give(shard, { type: 'offered', head, untilMs });
  }

  /** Handles a peer's announcement that it has served the shard since the fence of this epoch. */
  ownedBy(tag: string, shard: number, epoch: number): void {
    const replica = this.replicaOf(shard);
    // Each heartbeat repeats the announcement, so skip the facts if it changes nothing.
    const isOld = replica?.epoch === undefined || replica.epoch >= epoch;
    if (replica?.state === 'offered' || replica?.state === 'recovering' || !isOld)
      this.give(shard, { type: 'owned', by: tag, epoch });
  }

  /** Handles a conflict that an append found: the log has another owner. */
  fenced(shard: number, head: Head): void {
    this.deps.watch.headSeen(shard, head, this.deps.clock.monotonicMs());
    this.give(shard, { type: 'fenced' });
  }

  /** Checks that each served log still belongs to this node. */
  confirmAll(): void {
    const factsOf = this.facts.now();
    for (const { shard } of this.deps.shards) this.run(shard, { type: 'confirm' }, factsOf(shard));
  }

  /** Releases all shards that this node serves or is about to serve, and takes no new ones. */
  async end(): Promise<void> {
    const { clock, timers } = this.deps;
    const endMs = clock.monotonicMs() + END_MS;
    const factsOf = this.facts.now();
    for (const { shard } of this.deps.shards) this.run(shard, { type: 'end' }, factsOf(shard));
    this.tick();
    while (this.replicas.some(isHeldHere) && clock.monotonicMs() < endMs) {
      await delay(timers, END_TICK_MS);
      this.tick();
    }
    await Promise.all(this.recording);
  }

  /** Shards that this node serves or should take, and whose logs do not answer. */
  stuck(): number[] {
    const nowMs = this.deps.clock.monotonicMs();
    return this.deps.local
      .status()
      .filter(({ shard, pendingAppendMs }) => isStuck(this.mustReplica(shard), pendingAppendMs, nowMs))
      .map(({ shard }) => shard);
  }

  /** Shards that this node should take but has no memory for. */
  refused(): number[] {
    const { local } = this.deps;
    if (!local.isMemoryFull) return [];
    const { facts } = this;
    return local.status().flatMap(({ shard, state }) => {
      const isRefused = state === 'away' && this.mustReplica(shard).problem !== undefined;
      return isRefused && facts.roleOf(shard) === 'owner' ? [shard] : [];
    });
  }

  /** Shards whose thread on this node has just ended. Another node can serve them sooner than this node. */
  lost(): number[] {
    const nowMs = this.deps.clock.monotonicMs();
    return this.replicas
      .filter((replica) => isLost(replica, { nowMs, hasOtherTaker: this.facts.hasOtherTaker(replica.shard, nowMs) }))
      .map(({ shard }) => shard);
  }

  /**
   * True if this node could serve the shard, regardless of its current owner. The log must answer, and no append to the
   * same server may be waiting. If that server or its replicas are slow, all of the server's shards are affected.
   */
  reaches(shard: number): boolean {
    const { watch, clock, local, appendQueueOf } = this.deps;
    if (!watch.isReachedSteadily(shard, clock.monotonicMs())) return false;
    const queue = appendQueueOf(shard);
    return !local.status().some((other) => appendQueueOf(other.shard) === queue && other.pendingAppendMs >= WAITING_MS);
  }

  /** Rewrites ownership records and releases that the registry lacks. */
  reclaim(): void {
    const factsOf = this.facts.now();
    for (const { shard, epoch, releasedEpoch } of this.replicas) {
      if (epoch !== undefined || releasedEpoch !== undefined) this.run(shard, { type: 'recorded' }, factsOf(shard));
    }
  }

  private get replicas(): readonly Replica[] {
    return this.deps.shards.map(({ replica }) => replica);
  }

  private replicaOf(shard: number): Replica | undefined {
    return this.deps.shards[shard]?.replica;
  }

  private mustReplica(shard: number): Replica {
    return this.replicaOf(shard) as Replica;
  }

  /** Gives an input to one replica. Ignores a shard that this store does not have. */
  private give(shard: number, input: Input): void {
    if (this.replicaOf(shard) !== undefined) this.run(shard, input, this.facts.now()(shard));
  }

  private run(shard: number, input: Input, facts: Facts): void {
    const one = this.deps.shards[shard] as ClusterShard;
    const [replica, effects] = transition(one.replica, input, facts);
    one.replica = replica;
    for (const effect of effects) this.carryOut(shard, effect);
  }

  private carryOut(shard: number, effect: Effect): void {
    const { tag, local, send, broadcast, claim, onServed, observer, log } = this.deps;
    switch (effect.type) {
      case 'command':
        void local.move(effect.move).then((result) => this.ended(effect.move, result));
        return;
      case 'notify':
        void local.move(effect.move);
        return;
      case 'look':
        this.look(shard);
        return;
      case 'want':
        send(effect.to, { type: 'want', shard, sequence: effect.sequence });
        return;
      case 'offer':
        if (!send(effect.to, { type: 'take', shard, head: effect.head, untilMs: effect.untilMs }))
          this.give(shard, { type: 'not-sent' });
        return;
      case 'serve':
        onServed(shard, effect.epoch);
        broadcast({ type: 'own', shard, epoch: effect.epoch });
        // If this record is lost, `reclaim` writes it again.
        claim(shard, { epoch: effect.epoch, tag }).catch(() => {});
        return;
      case 'unserve':
        onServed(shard, undefined);
        return;
      case 'record':
        claim(shard, { epoch: effect.epoch, tag }).catch(() => {});
        return;
      case 'record-release':
        this.recordRelease(shard, effect);
        return;
      case 'took': {
        const { how, tookMs, epoch } = effect;
        observer.taken(shard, how, tookMs);
        log.info({ shard, epoch, how, tookMs: Math.round(tookMs) }, 'shard taken over');
        return;
      }
      case 'paused':
        observer.paused(shard, effect.pausedMs, effect.isHanded);
        return;
      case 'problem': {
        const { reason } = effect;
        log.warn({ code: 'shard-move-failed', shard, reason }, 'cannot load or take over a shard, will retry');
        return;
      }
      case 'left-to-owner':
        log.warn({ code: 'shard-left-to-owner', shard }, 'archive does not answer, shard stays with its owner');
        return;
    }
  }

  /** Returns the result of a command to its replica. All replicas then act at once, without waiting for a tick. */
  private ended(move: Move, result: MoveResult): void {
    const { shards, watch, clock } = this.deps;
    const { shard, type } = move;
    if (result.type === 'conflict' || result.type === 'short') watch.headSeen(shard, result.head, clock.monotonicMs());
    if (result.type === 'still') noteAcknowledged(shards[shard] as ClusterShard, result.head);
    this.give(shard, { type: 'result', of: type, result });
    this.tick();
  }

  private look(shard: number): void {
    const { headOf, watch, clock } = this.deps;
    headOf(shard).then(
      (head) => watch.headSeen(shard, head, clock.monotonicMs()),
      () => watch.headUnseen(shard),
    );
  }

  /**
   * Records a release. The registry accepts a release only from the recorded owner, and that record may have been lost.
   */
  private recordRelease(shard: number, { epoch, isRepeated }: Extract<Effect, { type: 'record-release' }>): void {
    const { tag, claim, release, log } = this.deps;
    const written = claim(shard, { epoch, tag })
      .then(() => release(shard, { epoch, tag }))
      .catch((error) => {
        if (isRepeated) return;
        log.warn(
          { code: 'release-not-recorded', shard, error: messageOf(error) },
          'cannot record the release of a shard yet',
        );
      })
      .finally(() => this.recording.delete(written));
    this.recording.add(written);
  }
}

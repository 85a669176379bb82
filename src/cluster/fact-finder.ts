import type { Clock } from '../base/clock.js';
import type { RegistryView } from '../ports/table.js';
import type { Facts, Holder, NewOwner, Role } from '../replica/facts.js';
import { tagOf } from '../replica/tag-of.js';
import { HANDOVERS_MAX } from '../replica/timers.js';
import type { ShardStatus, Shards } from '../threads/shards.js';
import { type ClusterShard, noteServed } from './cluster-shard.js';
import { NO_OWNER } from './plan.js';
import type { Watch } from './watch.js';

export interface FactDeps {
  readonly tag: string;
  readonly local: Pick<Shards, 'move' | 'status' | 'isMemoryFull'>;
  readonly watch: Watch;
  /** Undefined until the registry has answered. */
  readonly view: () => RegistryView | undefined;
  readonly isLinked: (tag: string) => boolean;
  /**
   * Converts a time on this node's monotonic clock to the peer's monotonic clock. Undefined before the peer's first
   * heartbeat.
   */
  readonly toTheirClock: (tag: string, ourMs: number) => number | undefined;
  /** False if this node's clock cannot be trusted. The node then takes no shards. */
  readonly isClockSane: () => boolean;
  readonly clock: Clock;
}

/** Facts that all shards share, computed once per tick. */
interface Shared {
  readonly nowMs: number;
  readonly view: RegistryView | undefined;
  readonly statuses: readonly ShardStatus[];
  readonly isClockSane: boolean;
  readonly loadsOwn: boolean;
  readonly mayHandOver: boolean;
  readonly isGone: (tag: string) => boolean;
}

/** Collects the facts around the replicas from the registry, the failure detector and the threads. */
export class FactFinder {
  constructor(
    private readonly deps: FactDeps,
    private readonly shards: readonly ClusterShard[],
  ) {}

  /** Facts of any shard at this time. */
  now(): (shard: number) => Facts {
    const { clock, local, view, watch, isClockSane } = this.deps;
    const nowMs = clock.monotonicMs();
    const statuses = local.status();
    noteServed(this.shards, statuses);
    const gone = new Map<string, boolean>();
    const isGone = (tag: string) => {
      const known = gone.get(tag) ?? watch.isGone(tag, nowMs);
      gone.set(tag, known);
      return known;
    };
    const loadsOwn = statuses.some(
      ({ shard, state }) =>
        state === 'away' && this.shards[shard]?.replica.problem === undefined && this.roleOf(shard) === 'owner',
    );
    const mayHandOver = this.handovers < HANDOVERS_MAX;
    const shared = { nowMs, view: view(), statuses, isClockSane: isClockSane(), loadsOwn, mayHandOver, isGone };
    return (shard) => this.factsOf(shard, shared);
  }

  roleOf(shard: number): Role {
    const { tag, view } = this.deps;
    const plan = view()?.plan;
    if (plan?.owners[shard] === tag) return 'owner';
    return plan?.followers[shard]?.includes(tag) ? 'follower' : 'none';
  }

  /** True if another live node is assigned to own or to follow the shard. */
  hasOtherTaker(shard: number, nowMs: number): boolean {
    const { tag, view, watch } = this.deps;
    const plan = view()?.plan;
    const takers = [plan?.owners[shard] ?? NO_OWNER, ...(plan?.followers[shard] ?? [])];
    return takers.some((taker) => taker !== NO_OWNER && taker !== tag && !watch.isGone(taker, nowMs));
  }

  private factsOf(shard: number, shared: Shared): Facts {
    const { tag, watch } = this.deps;
    const { nowMs, view, isClockSane, loadsOwn, mayHandOver, isGone } = shared;
    const { replica, acknowledged } = this.shards[shard] as ClusterShard;
    const status = shared.statuses[shard] as ShardStatus;
    const role = this.roleOf(shard);
    const head = watch.headOf(shard);
    const recorded = view?.claims.get(shard);
    const owner = recorded?.tag ?? NO_OWNER;
    const isOthers = owner !== NO_OWNER && owner !== tag;
    // The transition may find that the shard's thread has just ended.
    const mayBeLost = replica.isHeld || nowMs < replica.lostUntilMs;
    return {
      nowMs,
      me: tag,
      isPlanned: view?.plan !== undefined,
      role,
      local: status,
      holder: role === 'owner' && status.state === 'following' ? this.holderOf(shard, shared) : 'unknown',
      head,
      holderName: this.holderNameOf(shard, view),
      isLogIdle: watch.isIdle(shard, nowMs),
      acknowledged,
      recorded,
      newOwner: this.newOwnerOf(shard, shared),
      hasOtherTaker: mayBeLost && this.hasOtherTaker(shard, nowMs),
      isUnserved: role === 'owner' && (!isOthers || isGone(owner) || watch.isStuck(owner, shard)),
      isOwnerSuspect: isOthers && (watch.isSuspect(owner, nowMs) || watch.isStuck(owner, shard)),
      loadsOwn,
      isClockSane,
      mayHandOver,
    };
  }

  private get handovers(): number {
    return this.shards.filter(({ replica }) => replica.handover?.to !== undefined).length;
  }

  private holderOf(shard: number, { view, isGone }: Shared): Holder {
    const { tag, watch } = this.deps;
    const head = watch.headOf(shard);
    if (head === undefined) return 'unknown';
    const holder = tagOf(head);
    const claim = view?.claims.get(shard);
    if (head.lsn.epoch === 0 || (claim?.epoch === head.lsn.epoch && claim.tag === NO_OWNER)) return 'nobody';
    if (holder === tag) return 'me';
    if (watch.isStuck(holder, shard)) return 'stuck';
    return isGone(holder) ? 'gone' : 'alive';
  }

  private holderNameOf(shard: number, view: RegistryView | undefined): string {
    const head = this.deps.watch.headOf(shard);
    if (head === undefined) return 'an unknown process';
    const holder = tagOf(head);
    return view?.members.get(holder)?.name ?? `the process ${holder}`;
  }

  private newOwnerOf(shard: number, { view, nowMs, isGone }: Shared): NewOwner | undefined {
    const { tag, isLinked, toTheirClock } = this.deps;
    const owner = view?.plan?.owners[shard] ?? NO_OWNER;
    if (owner === NO_OWNER || owner === tag) return undefined;
    const theirMs = toTheirClock(owner, nowMs);
    const clockAheadMs = theirMs === undefined ? undefined : theirMs - nowMs;
    return { tag: owner, isLinked: isLinked(owner), isGone: isGone(owner), clockAheadMs };
  }
}

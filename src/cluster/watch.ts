import type { HeartbeatCounters } from '../ports/table.js';
import { type Head, isSameHead } from '../ports/wal.js';
import type { ClusterShard } from './cluster-shard.js';

/** A member whose heartbeat and link have been silent for this long is suspected dead. */
const SILENT_MS = 1000;
/** Number of unchanged reads that count as silence. */
const SILENT_READS = 4;
/** The corresponding limits for a member whose address refuses connections. */
const REFUSED_MS = 400;
const REFUSED_READS = 2;
/** A member that has been silent for this long is monitored more closely. */
const SUSPECT_MS = 500;
/** A log whose head has not moved for this long is idle. */
const QUIET_MS = 300;
/** A head that was read longer ago than this does not prove that the log can be reached. */
const REACHED_MS = 500;

/** Once the log answers again, a former owner that also reaches it reports this within this time. */
const STEADY_MS = 500;

interface SeenHeartbeat {
  readonly counter: string;
  readonly sinceMs: number;
  readonly reads: number;
  /** True if the counter has changed since this member began to monitor it. */
  readonly hasMoved: boolean;
}

/** The state of the link to a member. */
interface SeenLink {
  readonly heardMs: number;
  /** True if no process listens at the member's address, or a different process does. */
  readonly isRefused: boolean;
  /** Shards whose logs the member says it cannot reach. */
  readonly stuck: readonly number[];
}

const NO_LINK: SeenLink = { heardMs: Number.NEGATIVE_INFINITY, isRefused: false, stuck: [] };

/**
 * Failure detector. It judges the other members only by this member's own clock, and only for times when this member
 * could have seen them. A member is suspected dead if neither its heartbeat nor its link shows life. Its shards may be
 * taken if their logs are idle as well.
 */
export class Watch {
  private readonly heartbeats = new Map<string, SeenHeartbeat>();
  private readonly links = new Map<string, SeenLink>();

  constructor(private readonly shards: readonly ClusterShard[]) {}

  heartbeatsRead(counters: HeartbeatCounters, nowMs: number): void {
    for (const [tag, counter] of counters) {
      const seen = this.heartbeats.get(tag);
      if (seen?.counter === counter) this.heartbeats.set(tag, { ...seen, reads: seen.reads + 1 });
      else this.heartbeats.set(tag, { counter, sinceMs: nowMs, reads: 0, hasMoved: seen !== undefined });
    }
    for (const tag of this.heartbeats.keys()) if (!counters.has(tag)) this.heartbeats.delete(tag);
  }

  /**
   * Handles a missing answer of the registry. Members and logs may have changed unnoticed, so their silence is timed
   * from now on.
   */
  registrySilent(nowMs: number): void {
    for (const [tag, seen] of this.heartbeats) this.heartbeats.set(tag, { ...seen, sinceMs: nowMs, reads: 0 });
    for (const one of this.shards) if (one.seenHead !== undefined) one.seenHead = { ...one.seenHead, sinceMs: nowMs };
  }

  heard(tag: string, stuck: readonly number[], nowMs: number): void {
    this.links.set(tag, { heardMs: nowMs, isRefused: false, stuck });
  }

  refused(tag: string): void {
    this.links.set(tag, { ...(this.links.get(tag) ?? NO_LINK), isRefused: true });
  }

  /** Forgets former members that have been silent for a while. */
  keepOnly(tags: ReadonlySet<string>, nowMs: number): void {
    for (const tag of this.links.keys()) {
      if (!tags.has(tag) && !this.isHeard(tag, nowMs)) this.links.delete(tag);
    }
  }

  headSeen(shard: number, head: Head, nowMs: number): void {
    const one = this.shards[shard];
    if (one === undefined) return;
    const seen = one.seenHead;
    const sinceMs = seen !== undefined && isSameHead(seen.head, head) ? seen.sinceMs : nowMs;
    one.seenHead = { head, sinceMs, reachedMs: seen?.reachedMs ?? nowMs, seenMs: nowMs };
  }

  headUnseen(shard: number): void {
    const one = this.shards[shard];
    if (one !== undefined) one.seenHead = undefined;
  }

  /** The newest head that was read; undefined if the last read failed. */
  headOf(shard: number): Head | undefined {
    return this.shards[shard]?.seenHead?.head;
  }

  /** True if the log answers this node. */
  isReached(shard: number, nowMs: number): boolean {
    return nowMs - (this.shards[shard]?.seenHead?.seenMs ?? Number.NEGATIVE_INFINITY) < REACHED_MS;
  }

  /**
   * True if the log has answered for a while. After an outage, other members may reach it a little later than this one.
   */
  isReachedSteadily(shard: number, nowMs: number): boolean {
    return this.isReached(shard, nowMs) && nowMs - (this.shards[shard]?.seenHead?.reachedMs ?? nowMs) >= STEADY_MS;
  }

  isIdle(shard: number, nowMs: number): boolean {
    const seen = this.shards[shard]?.seenHead;
    return seen !== undefined && seen.seenMs - seen.sinceMs >= QUIET_MS && this.isReached(shard, nowMs);
  }

  /** True if the member has shown life since this node began to monitor it. */
  hasLived(tag: string): boolean {
    return this.heartbeats.get(tag)?.hasMoved === true || this.heardMs(tag) > Number.NEGATIVE_INFINITY;
  }

  /** True if the member may be dead. */
  isSuspect(tag: string, nowMs: number): boolean {
    return this.isRefused(tag) || nowMs - this.heardMs(tag) >= SUSPECT_MS;
  }

  /** True if any member says that it cannot reach a log. */
  get isAnyStuck(): boolean {
    for (const { stuck } of this.links.values()) if (stuck.length > 0) return true;
    return false;
  }

  isStuck(tag: string, shard: number): boolean {
    return this.links.get(tag)?.stuck.includes(shard) === true;
  }

  /**
   * True if the member shows no sign of life. A member without a heartbeat entry has left, unless its link still shows
   * life.
   */
  isGone(tag: string, nowMs: number): boolean {
    const counter = this.heartbeats.get(tag);
    if (counter === undefined) return this.isRefused(tag) || !this.isHeard(tag, nowMs);
    const silentMs = nowMs - counter.sinceMs;
    if (this.isRefused(tag)) return silentMs >= REFUSED_MS && counter.reads >= REFUSED_READS;
    return silentMs >= SILENT_MS && counter.reads >= SILENT_READS && !this.isHeard(tag, nowMs);
  }

  /** True if the link has been heard within the last second. */
  private isHeard(tag: string, nowMs: number): boolean {
    return nowMs - this.heardMs(tag) < SILENT_MS;
  }

  private isRefused(tag: string): boolean {
    return this.links.get(tag)?.isRefused === true;
  }

  private heardMs(tag: string): number {
    return this.links.get(tag)?.heardMs ?? Number.NEGATIVE_INFINITY;
  }
}

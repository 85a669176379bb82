import { type Head, isSameHead } from '../shard/log/wal.js';
import type { HeartbeatCounters } from './table.js';

/** A member whose heartbeat and link are silent for this long is suspected dead. */
const SILENT_MS = 1000;
/** Number of unchanged reads that the silence needs. */
const SILENT_READS = 4;
/** The same limits for a member whose address refuses connections. */
const REFUSED_MS = 400;
const REFUSED_READS = 2;
/** A member that is silent for this long is watched more closely. */
const SUSPECT_MS = 500;
/** A log whose head has not moved for this long is idle. */
const QUIET_MS = 300;
/** An owner whose appends wait this long cannot reach the log. */
export const STUCK_MS = 1500;
/** A head read longer ago than this does not show that the log can be reached. */
const REACHED_MS = 500;

/** Time in which a former owner that reaches the log again has reported it. */
const STEADY_MS = 500;

interface SeenHeartbeat {
  readonly beat: string;
  readonly sinceMs: number;
  readonly reads: number;
  /** The counter has changed since this member began to watch. */
  readonly hasMoved: boolean;
}

/** State of the link to a member. */
interface SeenLink {
  readonly heardMs: number;
  /** No process listens at the member's address, or another process does. */
  readonly isRefused: boolean;
}

interface SeenHead {
  readonly head: Head;
  readonly sinceMs: number;
  /** Since when every read of the log has succeeded. */
  readonly reachedMs: number;
  readonly seenMs: number;
}

/**
 * Failure detector. Judges the other members by this member's own clock alone, and only for time in which it could have
 * seen them. A member is suspected dead when neither heartbeat nor link shows life. Its shards may be taken when their
 * logs are idle, too.
 */
export class Watch {
  private readonly beats = new Map<string, SeenHeartbeat>();
  private readonly links = new Map<string, SeenLink>();
  private readonly heads = new Map<number, SeenHead>();
  /** By tag: shards whose logs the member reports that it cannot reach. */
  private readonly stuck = new Map<string, ReadonlySet<number>>();

  heartbeatsRead(beats: HeartbeatCounters, nowMs: number): void {
    for (const [tag, beat] of beats) {
      const seen = this.beats.get(tag);
      if (seen?.beat === beat) this.beats.set(tag, { ...seen, reads: seen.reads + 1 });
      else this.beats.set(tag, { beat, sinceMs: nowMs, reads: 0, hasMoved: seen !== undefined });
    }
    for (const tag of this.beats.keys()) if (!beats.has(tag)) this.beats.delete(tag);
  }

  /** The registry did not answer: the silence of members and logs begins anew. */
  registrySilent(nowMs: number): void {
    for (const [tag, seen] of this.beats) this.beats.set(tag, { ...seen, sinceMs: nowMs, reads: 0 });
    for (const [shard, seen] of this.heads) this.heads.set(shard, { ...seen, sinceMs: nowMs });
  }

  heard(tag: string, stuck: readonly number[], nowMs: number): void {
    this.links.set(tag, { heardMs: nowMs, isRefused: false });
    this.stuck.set(tag, new Set(stuck));
  }

  refused(tag: string): void {
    const heardMs = this.links.get(tag)?.heardMs ?? Number.NEGATIVE_INFINITY;
    this.links.set(tag, { heardMs, isRefused: true });
  }

  /** Forgets former members that have been silent for a while. */
  keepOnly(tags: ReadonlySet<string>, nowMs: number): void {
    for (const tag of this.links.keys()) {
      if (tags.has(tag) || this.isHeard(tag, nowMs)) continue;
      this.links.delete(tag);
      this.stuck.delete(tag);
    }
  }

  headSeen(shard: number, head: Head, nowMs: number): void {
    const seen = this.heads.get(shard);
    const sinceMs = seen !== undefined && isSameHead(seen.head, head) ? seen.sinceMs : nowMs;
    this.heads.set(shard, { head, sinceMs, reachedMs: seen?.reachedMs ?? nowMs, seenMs: nowMs });
  }

  headUnseen(shard: number): void {
    this.heads.delete(shard);
  }

  /** Newest head read; undefined since the last read failed. */
  headOf(shard: number): Head | undefined {
    return this.heads.get(shard)?.head;
  }

  /** Whether the log answers this node. */
  isReached(shard: number, nowMs: number): boolean {
    return nowMs - (this.heads.get(shard)?.seenMs ?? Number.NEGATIVE_INFINITY) < REACHED_MS;
  }

  /** Whether the log has answered for a while: after an outage other members reach it a little later. */
  isReachedSteadily(shard: number, nowMs: number): boolean {
    return this.isReached(shard, nowMs) && nowMs - (this.heads.get(shard)?.reachedMs ?? nowMs) >= STEADY_MS;
  }

  isStill(shard: number, nowMs: number): boolean {
    const seen = this.heads.get(shard);
    return seen !== undefined && seen.seenMs - seen.sinceMs >= QUIET_MS && this.isReached(shard, nowMs);
  }

  /** Whether the member has shown life since this member began to watch. */
  hasLived(tag: string): boolean {
    return this.beats.get(tag)?.hasMoved === true || this.heardMs(tag) > Number.NEGATIVE_INFINITY;
  }

  /** Tags heard over a link within the last second, members or not. */
  heardLately(nowMs: number): readonly string[] {
    return [...this.links.keys()].filter((tag) => this.isHeard(tag, nowMs));
  }

  /** Whether the member may be dead. */
  isSuspect(tag: string, nowMs: number): boolean {
    return this.isRefused(tag) || nowMs - this.heardMs(tag) >= SUSPECT_MS;
  }

  isStuck(tag: string, shard: number): boolean {
    return this.stuck.get(tag)?.has(shard) === true;
  }

  /** Whether a member shows no sign of life; a silent one without a heartbeat entry has left. */
  isGone(tag: string, nowMs: number): boolean {
    const beat = this.beats.get(tag);
    if (beat === undefined) return this.isRefused(tag) || !this.isHeard(tag, nowMs);
    const silentMs = nowMs - beat.sinceMs;
    if (this.isRefused(tag)) return silentMs >= REFUSED_MS && beat.reads >= REFUSED_READS;
    return silentMs >= SILENT_MS && beat.reads >= SILENT_READS && !this.isHeard(tag, nowMs);
  }

  /** Whether the link has been heard within the last second. */
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

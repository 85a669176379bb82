import { type Head, isSameHead } from '../shard/log/wal.js';
import type { Beats } from './table.js';

/** A member whose beat and link have been silent for so long is gone. */
const SILENT_MS = 1000;
/** Beats that have to be read meanwhile. */
const SILENT_READS = 4;
/** Of one whose address refuses connections. */
const REFUSED_MS = 400;
const REFUSED_READS = 2;
/** Whoever is silent for so long is looked at more closely. */
const SUSPECT_MS = 500;
/** A log whose head has not moved for so long is still. */
const QUIET_MS = 300;
/** An owner whose flights wait for so long cannot reach the log. */
export const STUCK_MS = 1500;
/** A head that was read before is none that can be reached now. */
const REACHED_MS = 500;

/** By then who reached it before has said so, if he does again. */
const STEADY_MS = 500;

interface SeenBeat {
  readonly beat: string;
  readonly sinceMs: number;
  readonly reads: number;
  /** Another one has been read before. */
  readonly hasMoved: boolean;
}

/** How the link to a member is. */
interface SeenLink {
  readonly heardMs: number;
  /** Its address answers that nobody listens, or as somebody else. */
  readonly isRefused: boolean;
}

interface SeenHead {
  readonly head: Head;
  readonly sinceMs: number;
  /** Since when the log has answered each time. */
  readonly reachedMs: number;
  readonly seenMs: number;
}

/**
 * What a member sees of the others, and concludes from it: by its own clock alone, and only of what it could have seen. A
 * member is gone when neither its beat nor its link gives a sign of life; its shards may be taken when their logs are
 * still, too.
 */
export class Watch {
  private readonly beats = new Map<string, SeenBeat>();
  private readonly links = new Map<string, SeenLink>();
  private readonly heads = new Map<number, SeenHead>();
  /** By tag, the shards whose logs it says that it does not reach. */
  private readonly stuck = new Map<string, ReadonlySet<number>>();

  beatsRead(beats: Beats, nowMs: number): void {
    for (const [tag, beat] of beats) {
      const seen = this.beats.get(tag);
      if (seen?.beat === beat) this.beats.set(tag, { ...seen, reads: seen.reads + 1 });
      else this.beats.set(tag, { beat, sinceMs: nowMs, reads: 0, hasMoved: seen !== undefined });
    }
    for (const tag of this.beats.keys()) if (!beats.has(tag)) this.beats.delete(tag);
  }

  /** The table did not answer: nobody's silence has been seen meanwhile, nor that of a log. */
  tableSilent(nowMs: number): void {
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

  /** Forgets who is no member any more, and has not been heard for long. */
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

  /** The newest that was seen; undefined since it could not be read. */
  headOf(shard: number): Head | undefined {
    return this.heads.get(shard)?.head;
  }

  /** Its log answers this node. */
  isReached(shard: number, nowMs: number): boolean {
    return nowMs - (this.heads.get(shard)?.seenMs ?? Number.NEGATIVE_INFINITY) < REACHED_MS;
  }

  /** And it has for a while: after an outage others reach it a little later. */
  isReachedSteadily(shard: number, nowMs: number): boolean {
    return this.isReached(shard, nowMs) && nowMs - (this.heads.get(shard)?.reachedMs ?? nowMs) >= STEADY_MS;
  }

  isStill(shard: number, nowMs: number): boolean {
    const seen = this.heads.get(shard);
    return seen !== undefined && seen.seenMs - seen.sinceMs >= QUIET_MS && this.isReached(shard, nowMs);
  }

  /** It has given a sign of life since this member looks. */
  hasLived(tag: string): boolean {
    return this.beats.get(tag)?.hasMoved === true || this.heardMs(tag) > Number.NEGATIVE_INFINITY;
  }

  /** Tags of those that have been heard a moment ago, members or not. */
  heardLately(nowMs: number): readonly string[] {
    return [...this.links.keys()].filter((tag) => this.isHeard(tag, nowMs));
  }

  /** It may be gone. */
  isSuspect(tag: string, nowMs: number): boolean {
    return this.isRefused(tag) || nowMs - this.heardMs(tag) >= SUSPECT_MS;
  }

  isStuck(tag: string, shard: number): boolean {
    return this.stuck.get(tag)?.has(shard) === true;
  }

  /** Whether a member gives no sign of life; one that is not in the table has left. */
  isGone(tag: string, nowMs: number): boolean {
    const beat = this.beats.get(tag);
    if (beat === undefined) return this.isRefused(tag) || !this.isHeard(tag, nowMs);
    const silentMs = nowMs - beat.sinceMs;
    if (this.isRefused(tag)) return silentMs >= REFUSED_MS && beat.reads >= REFUSED_READS;
    return silentMs >= SILENT_MS && beat.reads >= SILENT_READS && !this.isHeard(tag, nowMs);
  }

  /** Its link has been heard lately. */
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

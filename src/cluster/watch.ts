import { type Head, isSameHead } from '../shard/log/wal.js';
import type { Beats } from './table.js';

/** A member whose beat and link have been silent for so long is gone. */
export const SILENT_MS = 1000;
/** Beats that have to be read meanwhile. */
const SILENT_READS = 4;
/** Of one whose address refuses connections. */
export const REFUSED_MS = 400;
const REFUSED_READS = 2;
/** A log whose head has not moved for so long is still. */
const QUIET_MS = 300;

interface SeenBeat {
  readonly beat: string;
  readonly sinceMs: number;
  readonly reads: number;
}

/** How the link to a member is. */
interface SeenLink {
  heardMs: number;
  /** Its address answers that nobody listens, or as somebody else. */
  isRefused: boolean;
}

/**
 * What a member sees of the others, and concludes from it: by its own clock alone, and only of what it could have seen. A
 * member is gone when neither its beat nor its link gives a sign of life; its shards may be taken when their logs are
 * still, too.
 */
export class Watch {
  private readonly beats = new Map<string, SeenBeat>();
  private readonly links = new Map<string, SeenLink>();
  private readonly heads = new Map<number, { readonly head: Head; readonly sinceMs: number }>();

  beatsRead(beats: Beats, nowMs: number): void {
    for (const [tag, beat] of beats) {
      const seen = this.beats.get(tag);
      if (seen?.beat === beat) this.beats.set(tag, { ...seen, reads: seen.reads + 1 });
      else this.beats.set(tag, { beat, sinceMs: nowMs, reads: 0 });
    }
    for (const tag of this.beats.keys()) if (!beats.has(tag)) this.beats.delete(tag);
  }

  /** The table did not answer: nobody's silence has been seen meanwhile, nor that of a log. */
  tableSilent(nowMs: number): void {
    for (const [tag, { beat }] of this.beats) this.beats.set(tag, { beat, sinceMs: nowMs, reads: 0 });
    for (const [shard, { head }] of this.heads) this.heads.set(shard, { head, sinceMs: nowMs });
  }

  heard(tag: string, nowMs: number): void {
    this.links.set(tag, { heardMs: nowMs, isRefused: false });
  }

  refused(tag: string): void {
    const link = this.links.get(tag) ?? { heardMs: Number.NEGATIVE_INFINITY, isRefused: true };
    this.links.set(tag, { ...link, isRefused: true });
  }

  /** Who is no member any more and has no link needs no thought. */
  forget(tag: string): void {
    this.links.delete(tag);
  }

  headSeen(shard: number, head: Head, nowMs: number): void {
    const seen = this.heads.get(shard);
    if (seen === undefined || !isSameHead(seen.head, head)) this.heads.set(shard, { head, sinceMs: nowMs });
  }

  headUnseen(shard: number): void {
    this.heads.delete(shard);
  }

  /** Its link has been heard lately. */
  isHeard(tag: string, nowMs: number): boolean {
    return nowMs - (this.links.get(tag)?.heardMs ?? Number.NEGATIVE_INFINITY) < SILENT_MS;
  }

  /** Whether its beats are to be looked at more often: it may be gone. */
  isSuspect(tag: string): boolean {
    return this.links.get(tag)?.isRefused === true;
  }

  /** Of a member of the table; one that is none has left. */
  isGone(tag: string, nowMs: number): boolean {
    const beat = this.beats.get(tag);
    if (beat === undefined) return !this.isHeard(tag, nowMs);
    const silentMs = nowMs - beat.sinceMs;
    if (this.isSuspect(tag)) return silentMs >= REFUSED_MS && beat.reads >= REFUSED_READS;
    return silentMs >= SILENT_MS && beat.reads >= SILENT_READS && !this.isHeard(tag, nowMs);
  }

  isStill(shard: number, nowMs: number): boolean {
    const seen = this.heads.get(shard);
    return seen !== undefined && nowMs - seen.sinceMs >= QUIET_MS;
  }
}

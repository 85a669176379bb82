import type { ArchiveName, Days } from './archive.js';
import { finish } from './archive-hash.js';
import { HASH_BITS } from './hash-run.js';
import { HashSet } from './hash-set.js';

/** Spans that retention is cut into: with each there is one more set to look at, and one more chance to be wrong. */
const SPANS = 8;

interface Span {
  /** Its days have this number, when they are divided by as many as there are in a span. */
  readonly number: number;
  readonly names: HashSet;
}

/**
 * What one shard's archive has, in some 14 bits each: whether a name can be there, and in which days. Of millions of names
 * one in some hundred is said to be there and is not.
 */
export class KnownNames {
  private readonly spanDays: number;
  /** Newest first. */
  private spans: Span[] = [];

  /** `retentionDays`: what is older is dropped. */
  constructor(retentionDays: number) {
    this.spanDays = Math.max(1, Math.ceil(retentionDays / SPANS));
  }

  get count(): number {
    return this.spans.reduce((sum, { names }) => sum + names.count, 0);
  }

  get bytes(): number {
    return this.spans.reduce((sum, { names }) => sum + names.bytes, 0);
  }

  add(day: number, name: ArchiveName): void {
    this.spanOf(day).names.add(hashOf(name));
  }

  /** Days in which one of these names may be. */
  maybeDays(names: readonly ArchiveName[]): Days | undefined {
    let first = Number.POSITIVE_INFINITY;
    let last = Number.NEGATIVE_INFINITY;
    for (const name of names) {
      const hash = hashOf(name);
      for (const { number, names: known } of this.spans) {
        if (!known.has(hash)) continue;
        first = Math.min(first, number * this.spanDays);
        last = Math.max(last, (number + 1) * this.spanDays - 1);
      }
    }
    return first > last ? undefined : { first, last };
  }

  /** Drops spans of which all days are before this one. */
  dropBefore(day: number): void {
    this.spans = this.spans.filter(({ number }) => (number + 1) * this.spanDays > day);
  }

  /** A slice of the work that keeps it small: some ten microseconds. False when there is nothing to be done. */
  work(): boolean {
    return this.spans.some(({ names }) => names.work());
  }

  private spanOf(day: number): Span {
    const number = Math.floor(day / this.spanDays);
    const known = this.spans.find((span) => span.number === number);
    if (known !== undefined) return known;
    const span = { number, names: new HashSet() };
    this.spans.push(span);
    this.spans.sort((a, b) => b.number - a.number);
    return span;
  }
}

const KIND_BITS = { round: 0x2545f491, transaction: 0 } as const;

function hashOf({ player, kind, hash }: ArchiveName): number {
  return finish(Math.imul(player, 0x9e3779b1) ^ hash ^ KIND_BITS[kind]) >>> (32 - HASH_BITS);
}

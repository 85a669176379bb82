import { type HashKey, keyedHash } from '../../base/keyed-hash.js';
import type { ArchiveName, Days } from './archive.js';
import { HASH_BITS } from './hash-run.js';
import { HashSet } from './hash-set.js';
import type { NamesPart } from './names-file.js';

/** Spans that retention is cut into: with each there is one more set to look at, and one more chance to be wrong. */
const SPANS = 8;

interface Span {
  /** Its days have this number, when they are divided by as many as there are in a span. */
  readonly number: number;
  /** Undefined once its set could not be built: then any name may be in its days. */
  names: HashSet | undefined;
  /** It has names that it did not have when it was saved. */
  isDirty: boolean;
}

/*
 * A span as it is saved: version, days of a span, low and high word of the hash key (32 bits each, little-endian), then its
 * hashes.
 *
 * Sets of version 2 may lack names that were put while the names were read. Sets of version 3 have hashes without a key: round
 * ids could be computed that fill one end of a table. No set of another version is used: all names are read again.
 */
const VERSION = 4;
const HEAD_BYTES = 16;

/** A span whose set could not be built, as when there is no memory for it. */
export interface SkippedSpan {
  readonly days: Days;
  readonly error: unknown;
}

/**
 * What one shard's archive has, in some 14 bits each: whether a name can be there, and in which days. Of millions of names
 * one in some hundred is said to be there and is not.
 */
export class KnownNames {
  private readonly spanDays: number;
  /** Newest first. */
  private spans: Span[] = [];
  /** Spans that are gone since the others were saved. */
  private dropped: number[] = [];

  /**
   * `retentionDays`: what is older is dropped. `key`: secret of the hashes, until saved spans bring the one that they have.
   * `onSkipped`: where a set cannot be built, the shard goes on without it.
   */
  constructor(
    retentionDays: number,
    private key: HashKey,
    private readonly onSkipped: (span: SkippedSpan) => void,
  ) {
    this.spanDays = Math.max(1, Math.ceil(retentionDays / SPANS));
  }

  get count(): number {
    return this.spans.reduce((sum, { names }) => sum + (names?.count ?? 0), 0);
  }

  get bytes(): number {
    return this.spans.reduce((sum, { names }) => sum + (names?.bytes ?? 0), 0);
  }

  /** Spans of which any name may be in the archive, because their sets could not be built. */
  get skipped(): number {
    return this.spans.reduce((sum, { names }) => sum + (names === undefined ? 1 : 0), 0);
  }

  add(day: number, player: number, kind: ArchiveName['kind'], hash: number): void {
    const span = this.spanOf(day);
    try {
      span.names?.add(hashOf(this.key, player, kind, hash));
    } catch (error) {
      this.skip(span, error);
    }
    span.isDirty = true;
  }

  /**
   * Spans to be saved, by their numbers; undefined for those that are gone. Nothing while a span is skipped: with the
   * next saving its names would be fresh no more, and the next start would not know them.
   */
  unsaved(): ReadonlyMap<number, Buffer | undefined> {
    const parts = new Map<number, Buffer | undefined>();
    if (this.skipped > 0) return parts;
    for (const number of this.dropped) parts.set(number, undefined);
    for (const { number, names, isDirty } of this.spans) {
      if (isDirty && names !== undefined) parts.set(number, this.encoded(names));
    }
    return parts;
  }

  /** All spans, for a file; undefined while one is skipped. */
  whole(): readonly NamesPart[] | undefined {
    if (this.skipped > 0) return undefined;
    return this.spans.map((span) => ({
      number: span.number,
      encode: () => span.names && this.encoded(span.names),
    }));
  }

  /** To be called in the turn in which the unsaved was asked for. */
  saved(): void {
    this.dropped = [];
    for (const span of this.spans) span.isDirty = false;
  }

  /** Spans that were saved and are of no use: they go with the next saving, but for what has their numbers now. */
  discard(numbers: Iterable<number>): void {
    this.dropped.push(...numbers);
  }

  /** All of it has to be saved again. */
  touch(): void {
    for (const span of this.spans) span.isDirty = true;
  }

  /**
   * Takes saved parts, all that there are, in the place of what is known. False, and nothing is known, when one of them is
   * damaged, or was saved with another retention or key, or by another version.
   */
  load(parts: ReadonlyMap<number, Buffer | undefined>): boolean {
    this.clear();
    for (const [number, part] of parts) {
      const names = part && this.maybeNamesIn(part);
      if (names === undefined) {
        this.clear();
        return false;
      }
      this.insert({ number, names, isDirty: false });
    }
    return true;
  }

  clear(): void {
    this.spans = [];
    this.dropped = [];
  }

  /** The first part brings the key of all. */
  private maybeNamesIn(part: Buffer): HashSet | undefined {
    const isUsable =
      part.length > HEAD_BYTES && part.readUInt32LE(0) === VERSION && part.readUInt32LE(4) === this.spanDays;
    if (!isUsable) return undefined;
    const key = { low: part.readInt32LE(8), high: part.readInt32LE(12) };
    if (this.spans.length === 0) this.key = key;
    if (key.low !== this.key.low || key.high !== this.key.high) return undefined;
    try {
      return HashSet.fromBytes(part.subarray(HEAD_BYTES));
    } catch {
      return undefined;
    }
  }

  private encoded(names: HashSet): Buffer {
    const bytes = names.toBytes();
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt32LE(VERSION, 0);
    head.writeUInt32LE(this.spanDays, 4);
    head.writeInt32LE(this.key.low, 8);
    head.writeInt32LE(this.key.high, 12);
    return Buffer.concat([head, bytes]);
  }

  /** Not all names of this day can be read: any name may be in the days of its span. */
  skipDay(day: number, error: unknown): void {
    this.skip(this.spanOf(day), error);
  }

  private skip(span: Span, error: unknown): void {
    if (span.names === undefined) return;
    span.names = undefined;
    this.onSkipped({ days: this.daysOf(span), error });
  }

  private daysOf({ number }: Span): Days {
    return { first: number * this.spanDays, last: (number + 1) * this.spanDays - 1 };
  }

  /** False for a name that is in no span. */
  mayHave(player: number, kind: ArchiveName['kind'], hash: number): boolean {
    const known = hashOf(this.key, player, kind, hash);
    for (const { names } of this.spans) if (names?.has(known) ?? true) return true;
    return false;
  }

  /** Days in which one of these names may be. */
  maybeDays(names: readonly ArchiveName[]): Days | undefined {
    let first = Number.POSITIVE_INFINITY;
    let last = Number.NEGATIVE_INFINITY;
    for (const { player, kind, hash: own } of names) {
      const hash = hashOf(this.key, player, kind, own);
      for (const span of this.spans) {
        if (!(span.names?.has(hash) ?? true)) continue;
        const days = this.daysOf(span);
        first = Math.min(first, days.first);
        last = Math.max(last, days.last);
      }
    }
    return first > last ? undefined : { first, last };
  }

  /** Drops spans of which all days are before this one. */
  dropBefore(day: number): void {
    const isOver = ({ number }: Span) => (number + 1) * this.spanDays <= day;
    this.dropped.push(...this.spans.filter(isOver).map(({ number }) => number));
    this.spans = this.spans.filter((span) => !isOver(span));
  }

  /** A slice of the work that keeps it small: some ten microseconds. False when there is nothing to be done. */
  work(): boolean {
    return this.spans.some((span) => {
      try {
        return span.names?.work() ?? false;
      } catch (error) {
        this.skip(span, error);
        return true;
      }
    });
  }

  private spanOf(day: number): Span {
    const number = Math.floor(day / this.spanDays);
    const [newest] = this.spans;
    if (newest?.number === number) return newest;
    const known = this.spans.find((span) => span.number === number);
    if (known !== undefined) return known;
    const span = { number, names: new HashSet(), isDirty: true };
    this.insert(span);
    return span;
  }

  private insert(span: Span): void {
    this.spans.push(span);
    this.spans.sort((a, b) => b.number - a.number);
  }
}

const KINDS = { round: Uint8Array.of(0), transaction: Uint8Array.of(1) } as const;

/** Hashes of names in the archive have no key, because they are stored: two names of one such hash are one name here. */
function hashOf(key: HashKey, player: number, kind: ArchiveName['kind'], hash: number): number {
  return keyedHash(key, player, hash, KINDS[kind], 0, 1) >>> (32 - HASH_BITS);
}

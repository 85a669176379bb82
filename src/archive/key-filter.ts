import { type HashKey, keyedHash } from '../base/keyed-hash.js';
import type { ArchiveKey, Days } from '../ports/archive.js';
import type { KeyPart } from '../ports/key-file.js';
import { HASH_BITS } from './hash-run.js';
import { HashSet } from './hash-set.js';

/**
 * Number of spans into which the retention period is divided. Each span adds one set to search and one chance of a
 * false positive.
 */
const SPANS = 8;

interface Span {
  /** Number of the span: its days divided by the days per span, rounded down. */
  readonly number: number;
  /**
   * The keys of these days. Undefined if the set could not be built; in that case, any key may belong to these days.
   */
  names: HashSet | undefined;
  /** True if keys were added since the span was saved. */
  isDirty: boolean;
}

/*
 * The encoding of a saved span: version, days per span, low and high word of the hash key (32 bits each,
 * little-endian), then the hashes.
 *
 * Sets of version 2 may lack keys that were put while all keys were being read. Sets of version 3 have unkeyed hashes,
 * for which an attacker could compute round ids that fill one end of a table. Sets of all older versions are ignored,
 * and the keys are read from the archive again.
 */
const VERSION = 4;
const HEAD_BYTES = 16;

/** A span whose set could not be built, for example because there was not enough memory. */
export interface SkippedSpan {
  readonly days: Days;
  readonly error: unknown;
}

/**
 * The key filter for one shard's archive. It shows whether the archive may contain a key, and for which days. It takes
 * about 14 bits per key. With millions of keys, about one in a hundred absent keys is a false positive.
 */
export class KeyFilter {
  private readonly spanDays: number;
  /** Newest first. */
  private spans: Span[] = [];
  /** Ids of the spans dropped since the last save. */
  private dropped: number[] = [];

  /**
   * `retentionDays` is the number of days to keep. `key` is the secret key of the hashes; if saved spans are loaded,
   * their own key replaces it. `onSkipped` is called when a set cannot be built; the shard continues without that set.
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

  /** Number of spans whose sets could not be built. For the days of these spans, the archive may contain any key. */
  get skipped(): number {
    return this.spans.reduce((sum, { names }) => sum + (names === undefined ? 1 : 0), 0);
  }

  add(day: number, player: number, kind: ArchiveKey['kind'], hash: number): void {
    const span = this.spanOf(day);
    try {
      span.names?.add(hashOf(this.key, player, kind, hash));
    } catch (error) {
      this.skip(span, error);
    }
    span.isDirty = true;
  }

  /**
   * Spans to save, by number; undefined for a dropped span. Empty while the set of any span could not be built: after a
   * save, that span's keys would no longer count as fresh, so they would be missing at the next start.
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

  /** All spans, to be written to a file; undefined while the set of any span could not be built. */
  whole(): readonly KeyPart[] | undefined {
    if (this.skipped > 0) return undefined;
    return this.spans.map((span) => ({
      number: span.number,
      encode: () => span.names && this.encoded(span.names),
    }));
  }

  /** Marks all spans as saved. Must be called right after `unsaved`, before any other work can run. */
  saved(): void {
    this.dropped = [];
    for (const span of this.spans) span.isDirty = false;
  }

  /** Marks saved spans as unusable, so that the next save removes them unless new spans have the same numbers. */
  discard(numbers: Iterable<number>): void {
    this.dropped.push(...numbers);
  }

  /** Marks all spans as unsaved, so that the next save includes them. */
  touch(): void {
    for (const span of this.spans) span.isDirty = true;
  }

  /**
   * Replaces the filter with the saved parts. If any part is damaged or was saved with a different retention, key or
   * version, returns false and leaves the filter empty.
   */
  load(parts: ReadonlyMap<number, Buffer | undefined>): boolean {
    this.clear();
    for (const [number, part] of parts) {
      const names = part && this.tryKeysOf(part);
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

  /** Decodes a part. The first part determines the hash key for all parts. */
  private tryKeysOf(part: Buffer): HashSet | undefined {
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

  /** Records that some of this day's keys are unreadable. From then on, any key may belong to the days of its span. */
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

  /** True if some span may contain the key. */
  mayHave(player: number, kind: ArchiveKey['kind'], hash: number): boolean {
    const known = hashOf(this.key, player, kind, hash);
    for (const { names } of this.spans) if (names?.has(known) ?? true) return true;
    return false;
  }

  /** The range of days that may contain one of these keys. */
  findDays(names: readonly ArchiveKey[]): Days | undefined {
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

  /** Drops spans that end before this day. */
  dropBefore(day: number): void {
    const isOver = ({ number }: Span) => (number + 1) * this.spanDays <= day;
    this.dropped.push(...this.spans.filter(isOver).map(({ number }) => number));
    this.spans = this.spans.filter((span) => !isOver(span));
  }

  /** Runs a short step of merging, which takes about ten microseconds. Returns false if there is nothing to merge. */
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

/**
 * Keyed hash of a stored, unkeyed archive hash. If two keys have the same stored hash, the filter cannot distinguish
 * them.
 */
function hashOf(key: HashKey, player: number, kind: ArchiveKey['kind'], hash: number): number {
  return keyedHash(key, player, hash, KINDS[kind], 0, 1) >>> (32 - HASH_BITS);
}

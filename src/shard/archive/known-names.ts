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
  /** It has names that it did not have when it was saved. */
  isDirty: boolean;
}

/*
 * A span as it is saved: version and days of a span (32 bits each, little-endian), and its hashes.
 */
/** Those of version 2 may lack names that were put while the names were read. */
const VERSION = 3;
const HEAD_BYTES = 8;

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

  add(day: number, player: number, kind: ArchiveName['kind'], hash: number): void {
    const span = this.spanOf(day);
    span.names.add(hashOf(player, kind, hash));
    span.isDirty = true;
  }

  /** What has to be saved: spans by their numbers; undefined for those that are gone. */
  unsaved(): ReadonlyMap<number, Buffer | undefined> {
    const parts = new Map<number, Buffer | undefined>(this.dropped.map((number) => [number, undefined]));
    for (const { number, names, isDirty } of this.spans) if (isDirty) parts.set(number, this.encoded(names));
    return parts;
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

  /** False when the part was saved with another retention, or by another version. */
  load(number: number, part: Buffer): boolean {
    const isUsable =
      part.length > HEAD_BYTES && part.readUInt32LE(0) === VERSION && part.readUInt32LE(4) === this.spanDays;
    if (!isUsable) return false;
    this.spans = this.spans.filter((span) => span.number !== number);
    this.insert({ number, names: HashSet.fromBytes(part.subarray(HEAD_BYTES)), isDirty: false });
    return true;
  }

  clear(): void {
    this.spans = [];
    this.dropped = [];
  }

  private encoded(names: HashSet): Buffer {
    const bytes = names.toBytes();
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt32LE(VERSION, 0);
    head.writeUInt32LE(this.spanDays, 4);
    return Buffer.concat([head, bytes]);
  }

  /** False for a name that is in no span. */
  mayHave(player: number, kind: ArchiveName['kind'], hash: number): boolean {
    const known = hashOf(player, kind, hash);
    for (const { names } of this.spans) if (names.has(known)) return true;
    return false;
  }

  /** Days in which one of these names may be. */
  maybeDays(names: readonly ArchiveName[]): Days | undefined {
    let first = Number.POSITIVE_INFINITY;
    let last = Number.NEGATIVE_INFINITY;
    for (const { player, kind, hash: own } of names) {
      const hash = hashOf(player, kind, own);
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
    const isOver = ({ number }: Span) => (number + 1) * this.spanDays <= day;
    this.dropped.push(...this.spans.filter(isOver).map(({ number }) => number));
    this.spans = this.spans.filter((span) => !isOver(span));
  }

  /** A slice of the work that keeps it small: some ten microseconds. False when there is nothing to be done. */
  work(): boolean {
    return this.spans.some(({ names }) => names.work());
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

const KIND_BITS = { round: 0x2545f491, transaction: 0 } as const;

function hashOf(player: number, kind: ArchiveName['kind'], hash: number): number {
  return finish(Math.imul(player, 0x9e3779b1) ^ hash ^ KIND_BITS[kind]) >>> (32 - HASH_BITS);
}

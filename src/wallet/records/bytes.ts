import { assert } from '../../base/assert.js';

/*
 * Encoding of numbers and texts in blobs and snapshots. Each write function returns the position after the written
 * bytes; a `Cursor` reads them.
 *
 *   number    seven bits per byte, lowest first; the eighth bit is set if more bytes follow
 *   signed    like a number whose lowest bit is the sign
 *   text      a number, UTF-16 units * 3 + form, followed by:
 *     form 0  one byte per unit
 *     form 1  two bytes per unit, the lower one first
 *     form 2  six bits per unit, lowest first: its index in - 0-9 A-Z _ a-z, the characters of nearly all ids;
 *             only for texts of up to 4096 units
 */
export const FORMS = 3;
export const LATIN = 0;
export const WIDE = 1;
const SIX_BITS = 2;
const SIX_LETTERS = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
const NO_SIX = 0xff;
const SIX_OF = new Uint8Array(128).fill(NO_SIX);
const LETTER_OF = Buffer.from(SIX_LETTERS, 'latin1');
for (const [six, letter] of LETTER_OF.entries()) SIX_OF[letter] = six;
/** Maximum length of a text that is stored with six bits per unit. Longer texts use a different form. */
const SIX_LENGTH_MAX = 4096;
/** Scratch space for decoding a text. */
const letters = Buffer.alloc(SIX_LENGTH_MAX);

const MORE = 0x80;
/** The mask for the value bits of a number's byte. */
const LOW = 0x7f;
/** Bit operations are exact for numbers below this. */
const SMALL = 2 ** 31;
/** Values below this fit into four bytes. */
const FOUR_BYTES = 2 ** 28;

export const DOUBLE_BYTES = 8;
/** Maximum size of a non-negative safe integer. A signed safe integer is no larger. */
export const NUMBER_BYTES_MAX = 8;

export function writeNumber(bytes: Uint8Array, at: number, value: number): number {
  assert(value >= 0 && Number.isSafeInteger(value), 'a number is whole and not negative');
  let end = at;
  let rest = value;
  if (rest >= SMALL) {
    const high = Math.floor(rest / FOUR_BYTES);
    let low = rest - high * FOUR_BYTES;
    for (let i = 0; i < 4; i++, low >>>= 7) bytes[end++] = (low & LOW) | MORE;
    rest = high;
  }
  while (rest > LOW) {
    bytes[end++] = (rest & LOW) | MORE;
    rest >>>= 7;
  }
  bytes[end++] = rest;
  return end;
}

/**
 * Writes any safe integer. The sign is stored with the lowest six bits, so the value need not be doubled, which could
 * overflow.
 */
export function writeSigned(bytes: Uint8Array, at: number, value: number): number {
  assert(Number.isSafeInteger(value), 'a signed number is whole');
  const magnitude = Math.abs(value);
  const rest = Math.floor(magnitude / 64);
  const first = ((magnitude - rest * 64) << 1) | (value < 0 ? 1 : 0);
  if (rest === 0) {
    bytes[at] = first;
    return at + 1;
  }
  bytes[at] = first | MORE;
  return writeNumber(bytes, at + 1, rest);
}

/** Up to this length, a loop is faster than a call to the native copy. */
const LOOP_MAX = 96;

export function copyBytes(from: Uint8Array, start: number, to: Uint8Array, at: number, length: number): void {
  if (length > LOOP_MAX) to.set(from.subarray(start, start + length), at);
  else for (let i = 0; i < length; i++) to[at + i] = from[start + i] as number;
}

/** The upper bound for the encoded size of the text. */
export function textBytesMax(text: string): number {
  return 5 + text.length * 2;
}

/** Writes a text. Each text has only one form, so equal texts have equal bytes. */
export function writeText(bytes: Uint8Array, at: number, text: string): number {
  const { length } = text;
  let form = length > SIX_LENGTH_MAX ? LATIN : SIX_BITS;
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0xff) return writeWide(bytes, at, text);
    if (unit > LOW || SIX_OF[unit] === NO_SIX) form = LATIN;
  }
  let end = writeNumber(bytes, at, length * FORMS + form);
  if (form === SIX_BITS) return writeSix(bytes, end, text);
  for (let i = 0; i < length; i++) bytes[end++] = text.charCodeAt(i);
  return end;
}

function writeWide(bytes: Uint8Array, at: number, text: string): number {
  let end = writeNumber(bytes, at, text.length * FORMS + WIDE);
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    bytes[end++] = unit & 0xff;
    bytes[end++] = unit >>> 8;
  }
  return end;
}

function writeSix(bytes: Uint8Array, at: number, text: string): number {
  let end = at;
  let waiting = 0;
  let bits = 0;
  for (let i = 0; i < text.length; i++) {
    waiting |= (SIX_OF[text.charCodeAt(i)] as number) << bits;
    bits += 6;
    if (bits < 8) continue;
    bytes[end++] = waiting & 0xff;
    waiting >>>= 8;
    bits -= 8;
  }
  if (bits > 0) bytes[end++] = waiting;
  return end;
}

/** The text encoded with six bits per unit; undefined if it contains characters outside the six-bit alphabet. */
export function trySix(text: string): Uint8Array | undefined {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > LOW || SIX_OF[unit] === NO_SIX) return undefined;
  }
  const bytes = new Uint8Array(text.length);
  writeSix(bytes, 0, text);
  return bytes;
}

/** A text in its stored form. */
export interface WrittenText {
  readonly bytes: Uint8Array;
  readonly length: number;
}

/** True if this text is stored at position `at`. */
export function isTextAt(bytes: Uint8Array, at: number, text: WrittenText): boolean {
  return areAt(bytes, at, text.bytes, text.length);
}

/** True if the first `count` wanted bytes are at position `at`. */
export function areAt(bytes: Uint8Array, at: number, wanted: Uint8Array, count: number): boolean {
  for (let i = 0; i < count; i++) if (bytes[at + i] !== wanted[i]) return false;
  return true;
}

/** The position after a text. */
export function textEnd(bytes: Uint8Array, at: number): number {
  const head = textHead(bytes, at);
  return at + headBytes(head) + bodyBytes(head);
}

/** The head of a text: its length in units times FORMS, plus the number of its form. */
export function textHead(bytes: Uint8Array, at: number): number {
  let byte = bytes[at] as number;
  let head = byte & LOW;
  for (let i = 1; byte > LOW; i++) {
    byte = bytes[at + i] as number;
    head |= (byte & LOW) << (i * 7);
  }
  return head;
}

/** Number of bytes of a head. */
export function headBytes(head: number): number {
  let bytes = 1;
  for (let rest = head >>> 7; rest > 0; rest >>>= 7) bytes++;
  return bytes;
}

function bodyBytes(head: number): number {
  const length = Math.floor(head / FORMS);
  const form = head % FORMS;
  if (form === LATIN) return length;
  return form === WIDE ? length * 2 : Math.ceil((length * 6) / 8);
}

/** Reads sequentially from a position. */
export class Cursor {
  constructor(
    readonly bytes: Buffer,
    public at: number,
  ) {}

  byte(): number {
    return this.bytes[this.at++] as number;
  }

  number(): number {
    let byte = this.bytes[this.at++] as number;
    if (byte <= LOW) return byte;
    let value = byte & LOW;
    let factor = MORE;
    do {
      byte = this.bytes[this.at++] as number;
      value += (byte & LOW) * factor;
      factor *= MORE;
    } while (byte > LOW);
    return value;
  }

  signed(): number {
    const first = this.bytes[this.at++] as number;
    const low = (first & LOW) >>> 1;
    const magnitude = first > LOW ? low + this.number() * 64 : low;
    return (first & 1) === 0 || magnitude === 0 ? magnitude : -magnitude;
  }

  double(): number {
    const value = this.bytes.readDoubleLE(this.at);
    this.at += DOUBLE_BYTES;
    return value;
  }

  /** Reads a time in milliseconds, which is stored as the distance from another time. */
  time(after: number): number {
    const stored = this.number();
    if (stored === 0) return this.double();
    const distance = Math.floor((stored - 1) / 2);
    return (stored - 1) % 2 === 0 ? after + distance : after - distance;
  }

  text(): string {
    const head = this.number();
    const start = this.at;
    this.at = start + bodyBytes(head);
    const form = head % FORMS;
    if (form === SIX_BITS) return this.sixBits(start, Math.floor(head / FORMS));
    return this.bytes.toString(form === WIDE ? 'utf16le' : 'latin1', start, this.at);
  }

  skipText(): void {
    this.at = textEnd(this.bytes, this.at);
  }

  private sixBits(start: number, length: number): string {
    const { bytes } = this;
    let at = start;
    let waiting = 0;
    let bits = 0;
    for (let i = 0; i < length; i++) {
      if (bits < 6) {
        waiting |= (bytes[at++] as number) << bits;
        bits += 8;
      }
      letters[i] = LETTER_OF[waiting & 0x3f] as number;
      waiting >>>= 6;
      bits -= 6;
    }
    return letters.toString('latin1', 0, length);
  }
}

import { areAt, FORMS, headBytes, LATIN, textHead, trySix, WIDE } from './bytes.js';

/** The beginning of a text in each stored form; undefined for a form in which no text can begin with it. */
export interface Prefix {
  readonly length: number;
  readonly latin: Uint8Array | undefined;
  readonly wide: Uint8Array;
  readonly six: Uint8Array | undefined;
}

const BYTE_MAX = 0xff;
const SIX = 6;
const BYTE = 8;

export function prefixOf(text: string): Prefix {
  const units = Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));
  return {
    length: text.length,
    latin: units.every((unit) => unit <= BYTE_MAX) ? Uint8Array.from(units) : undefined,
    wide: Uint8Array.from(units.flatMap((unit) => [unit & BYTE_MAX, unit >>> BYTE])),
    six: trySix(text),
  };
}

/**
 * True if the text stored at position `at` starts with the prefix. This takes a tenth of the time that decoding the
 * text takes.
 */
export function beginsWith(bytes: Uint8Array, at: number, { length, latin, wide, six }: Prefix): boolean {
  const head = textHead(bytes, at);
  const start = at + headBytes(head);
  const form = head % FORMS;
  if ((head - form) / FORMS < length) return false;
  if (form === LATIN) return latin !== undefined && areAt(bytes, start, latin, latin.length);
  if (form === WIDE) return areAt(bytes, start, wide, wide.length);
  if (six === undefined) return false;
  const bits = length * SIX;
  const whole = Math.floor(bits / BYTE);
  const mask = (1 << (bits % BYTE)) - 1;
  if (!areAt(bytes, start, six, whole)) return false;
  return mask === 0 || (((bytes[start + whole] as number) ^ (six[whole] as number)) & mask) === 0;
}

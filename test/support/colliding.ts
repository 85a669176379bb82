/** A hash that processes text unit by unit in invertible steps, such as FNV-1a, which has no secret. */
export interface Invertible {
  readonly start: number;
  step(hash: number, unit: number): number;
  unstep(hash: number, unit: number): number;
}

const PRIME = 0x01000193;
/** The inverse of `PRIME` modulo 2^32. */
const INVERSE = 0x359c449b;
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_'].map((letter) =>
  letter.charCodeAt(0),
);

export function fnv(start: number): Invertible {
  return {
    start,
    step: (hash, unit) => Math.imul(hash ^ unit, PRIME),
    unstep: (hash, unit) => Math.imul(hash, INVERSE) ^ unit,
  };
}

/** Maximum number of intermediate hashes kept in memory. */
const MIDDLES_MAX = 2 ** 21;
const BACK_MAX = 3;
const FORWARD = 4;

/**
 * For each of these hashes, finds a text that has it, within a few hundred milliseconds. Uses a meet-in-the-middle
 * search: a few letters backward from each target, four letters forward from the start.
 */
export function collidingTexts(hash: Invertible, targets: readonly number[], count: number): string[] {
  let back = BACK_MAX;
  while (targets.length * LETTERS.length ** back > MIDDLES_MAX) back--;
  const ends = new Ends(targets.length * LETTERS.length ** back);
  for (const target of targets) {
    walk(back, target, hash.unstep, (middle, units) => {
      ends.add(middle, units);
      return true;
    });
  }
  const texts: string[] = [];
  walk(FORWARD, hash.start, hash.step, (middle, units) => {
    const end = ends.tryUnits(middle);
    if (end !== undefined) texts.push(textOf(units) + textOf(end).split('').reverse().join(''));
    return texts.length < count;
  });
  if (texts.length < count) throw new Error(`${texts.length} of ${count} colliding texts found`);
  return texts;
}

/** Visits all texts with this many letters, each as a number in base 64. Stops when `look` returns false. */
function walk(
  letters: number,
  start: number,
  step: (hash: number, unit: number) => number,
  look: (hash: number, units: number) => boolean,
): void {
  const goOn = (left: number, hash: number, units: number): boolean => {
    if (left === 0) return look(hash, units);
    for (const [number, unit] of LETTERS.entries()) {
      if (!goOn(left - 1, step(hash, unit), units * 64 + number)) return false;
    }
    return true;
  };
  goOn(letters, start, 1);
}

function textOf(units: number): string {
  let text = '';
  for (let rest = units; rest > 1; rest = Math.floor(rest / 64)) {
    text = String.fromCharCode(LETTERS[rest % 64] as number) + text;
  }
  return text;
}

/** Looks up a text by its final hash. */
class Ends {
  private readonly slots: Int32Array;
  private readonly mask: number;

  constructor(count: number) {
    const capacity = 2 ** Math.ceil(Math.log2(count * 2));
    this.slots = new Int32Array(capacity * 2);
    this.mask = capacity - 1;
  }

  add(hash: number, units: number): void {
    const slot = this.slotOf(hash);
    this.slots[slot * 2] = hash;
    this.slots[slot * 2 + 1] = units;
  }

  tryUnits(hash: number): number | undefined {
    return this.slots[this.slotOf(hash) * 2 + 1] || undefined;
  }

  private slotOf(hash: number): number {
    let slot = (Math.imul(hash, 0x9e3779b1) >>> 8) & this.mask;
    while (this.slots[slot * 2 + 1] !== 0 && this.slots[slot * 2] !== (hash | 0)) slot = (slot + 1) & this.mask;
    return slot;
  }
}

/** Reverses MurmurHash3's finalizer. */
export function unfinished(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, inverseOf(0xc2b2ae35));
  hash = hash ^ (hash >>> 13) ^ (hash >>> 26);
  hash = Math.imul(hash, inverseOf(0x85ebca6b));
  return hash ^ (hash >>> 16);
}

/** The inverse of an odd number modulo 2^32. */
function inverseOf(odd: number): number {
  let inverse = odd;
  for (let i = 0; i < 5; i++) inverse = Math.imul(inverse, 2 - Math.imul(odd, inverse));
  return inverse;
}

/** MurmurHash3's finalizer. */
export function finished(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

const BASIS = 0x811c9dc5;

/**
 * Names of players that collided while hashes had no key: the player index hashed the stored bytes of a name with
 * FNV-1a. `targets` are the hashes to reach.
 */
export function collidingUsernames(targets: readonly number[], count: number): string[] {
  // The period keeps the text in the form with one byte per unit; see src/wallet/records/bytes.ts.
  const { step, unstep } = fnv(BASIS);
  const start = [(1 + FORWARD + BACK_MAX) * 3, '.'.charCodeAt(0)].reduce(step, BASIS);
  return collidingTexts({ start, step, unstep }, targets.map(unfinished), count).map((text) => `.${text}`);
}

/**
 * FNV-1a of a product ID, from which the stored hash of the product's names continues; see
 * src/archive/archive-hash.ts.
 */
function ofProduct(productId: string): Invertible {
  const { start, step, unstep } = fnv(BASIS);
  const product = [...productId].map((letter) => letter.charCodeAt(0)).reduce(step, start);
  return { start: step(product, 0x10000), step, unstep };
}

/** Up to about 800 round IDs with the same stored hash. */
export function roundIdsOfOneHash(productId: string, count: number): string[] {
  return collidingTexts(ofProduct(productId), [unfinished(0x12345678)], count);
}

/**
 * A player's round IDs that collided while hashes had no key: sets of archived names rehashed the stored hash of a name
 * to 31 bits. These IDs have different hashes among the last `space` values.
 */
export function collidingRoundIds(player: number, productId: string, space: number, count: number): string[] {
  const hash = ofProduct(productId);
  const outer = Math.imul(player, 0x9e3779b1) ^ 0x2545f491;
  const places = Array.from({ length: 256 }, (_, i) => 2 ** 31 - 1 - Math.floor((i * space) / 256));
  const targets = places.map((place) => unfinished(unfinished(place * 2) ^ outer));
  const texts = collidingTexts(hash, targets, count * 8);
  const oldHash = (text: string) => {
    const name = finished([...text].map((letter) => letter.charCodeAt(0)).reduce(hash.step, hash.start));
    return finished(outer ^ name) >>> 1;
  };
  return [...new Map(texts.map((text) => [oldHash(text), text])).values()].slice(0, count);
}

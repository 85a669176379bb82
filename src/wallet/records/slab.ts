import { assert, must } from '../../base/assert.js';

/** The page size. The rest of a page that is too short for another slot stays unused. */
export const PAGE_BYTES = 256 * 1024;
const GRANULE = 8;
/** Size of the owner field in front of each blob. Owner 0 marks a free slot. */
const OWNER_BYTES = 4;
const NONE = -1;
/** A page is not compacted if a larger share of its slots is in use. */
const DENSE_SHARE = 3 / 4;
/** Number of empty pages kept for reuse. */
const SPARE_MAX = 4;

/** A page with slots of one length. */
class Page {
  readonly bytes: Buffer;
  readonly words: Uint32Array;
  sizeClass = NONE;
  slotBytes = 0;
  slots = 0;
  live = 0;
  /** Number of slots that have ever been in use. */
  begun = 0;
  /**
   * The position, in words, of the first freed slot. The second word of each freed slot is the position of the next.
   */
  freeSlot = NONE;
  /** Links in the list of pages of this size class with free space. */
  newer: Page | undefined = undefined;
  older: Page | undefined = undefined;

  constructor(
    readonly number: number,
    length: number,
  ) {
    const memory = new ArrayBuffer(length);
    this.bytes = Buffer.from(memory);
    this.words = new Uint32Array(memory);
  }
}

/**
 * Variable-length blobs outside V8's heap. Each page has slots of one length; the available lengths waste little space.
 * A blob belongs to one row, its owner. Only the owner stores the blob's place, so the blob can be moved. `compact`
 * empties pages that are at least a quarter empty, one at a time, while other pages have space for their blobs.
 *
 *   page     | owner blob . | (free) . . . | owner blob . | ...
 *   place    page number, and granule of eight bytes within the page; never 0
 */
export class Slab {
  private readonly pages: (Page | undefined)[] = [undefined];
  private readonly freeNumbers: number[] = [];
  private readonly spare: Page[] = [];
  private readonly sizes: readonly number[];
  /** By size class: the newest page with free space, and the number of free slots. */
  private readonly roomy: (Page | undefined)[];
  private readonly freeSlots: number[];
  private readonly shift: number;
  private readonly mask: number;
  private cursor = 0;
  /** Total number of bytes in all pages, and in the slots in use. */
  bytes = 0;
  bytesUsed = 0;
  /** Number of blobs. */
  count = 0;

  /** `pageBytes` must be a power of two. */
  constructor(private readonly pageBytes = PAGE_BYTES) {
    this.shift = Math.log2(pageBytes / GRANULE);
    this.mask = pageBytes / GRANULE - 1;
    this.sizes = sizesUpTo(pageBytes / 4);
    this.roomy = this.sizes.map(() => undefined);
    this.freeSlots = this.sizes.map(() => 0);
  }

  /** Allocates space for a blob of this length, without clearing it. */
  allocate(owner: number, length: number): number {
    const needed = length + OWNER_BYTES;
    const sizeClass = classOf(needed);
    const page = sizeClass < this.sizes.length ? this.pageWithRoom(sizeClass) : this.ownPage(needed);
    this.count++;
    return this.place(page, owner);
  }

  free(place: number): void {
    const page = this.pageOf(place);
    const word = this.wordOf(place);
    this.count--;
    page.words[word] = 0;
    this.bytesUsed -= page.slotBytes;
    if (page.sizeClass === NONE) {
      this.release(page);
      return;
    }
    page.words[word + 1] = page.freeSlot;
    page.freeSlot = word;
    if (page.live === page.slots) this.link(page);
    page.live--;
    this.freeSlots[page.sizeClass] = (this.freeSlots[page.sizeClass] as number) + 1;
    if (page.live === 0) this.giveUp(page);
  }

  /**
   * The buffer that holds a blob, which begins at `startOf`. Buffer and start stay the same until the next blob is
   * allocated.
   */
  bytesOf(place: number): Buffer {
    return this.pageOf(place).bytes;
  }

  startOf(place: number): number {
    return (place & this.mask) * GRANULE + OWNER_BYTES;
  }

  /** Maximum length of the blob without moving it. */
  roomOf(place: number): number {
    return this.pageOf(place).slotBytes - OWNER_BYTES;
  }

  /**
   * Examines the next page. A call takes a fraction of a millisecond, including any moves. If at least a quarter of the
   * page is empty and other pages have space, moves its blobs there and reports each owner's new place to `onMove`.
   * Returns true after the last page of a cycle.
   */
  compact(onMove: (owner: number, place: number) => void): boolean {
    this.cursor++;
    if (this.cursor >= this.pages.length) {
      this.cursor = 0;
      return true;
    }
    const page = this.pages[this.cursor];
    if (page === undefined || page.sizeClass === NONE || page.live > page.slots * DENSE_SHARE) return false;
    const elsewhere = (this.freeSlots[page.sizeClass] as number) - (page.slots - page.live);
    if (elsewhere >= page.live) this.evacuate(page, onMove);
    return false;
  }

  /** Frees all blobs. */
  clear(): void {
    this.count = 0;
    for (const page of this.pages) {
      const isSpare = page?.slots === 0;
      if (page === undefined || isSpare) continue;
      this.bytesUsed -= page.live * page.slotBytes;
      if (page.sizeClass !== NONE) this.giveUp(page);
      else this.release(page);
    }
  }

  private evacuate(page: Page, onMove: (owner: number, place: number) => void): void {
    const { sizeClass, slotBytes, words, bytes } = page;
    this.unlink(page);
    this.freeSlots[sizeClass] = (this.freeSlots[sizeClass] as number) - (page.slots - page.live);
    for (let slot = 0; slot < page.begun; slot++) {
      const from = slot * slotBytes;
      const owner = words[from / 4] as number;
      if (owner === 0) continue;
      const target = must(this.roomy[sizeClass], 'there is room elsewhere');
      const place = this.place(target, owner);
      bytes.copy(target.bytes, this.startOf(place), from + OWNER_BYTES, from + slotBytes);
      onMove(owner, place);
    }
    this.bytesUsed -= page.live * slotBytes;
    this.release(page);
  }

  private place(page: Page, owner: number): number {
    let word = page.freeSlot;
    if (word === NONE) {
      word = (page.begun++ * page.slotBytes) / 4;
    } else {
      page.freeSlot = (page.words[word + 1] as number) | 0;
    }
    page.words[word] = owner;
    page.live++;
    this.bytesUsed += page.slotBytes;
    if (page.sizeClass !== NONE) {
      this.freeSlots[page.sizeClass] = (this.freeSlots[page.sizeClass] as number) - 1;
      if (page.live === page.slots) this.unlink(page);
    }
    return ((page.number << this.shift) | ((word * 4) / GRANULE)) >>> 0;
  }

  private pageWithRoom(sizeClass: number): Page {
    const known = this.roomy[sizeClass];
    if (known !== undefined) return known;
    const page = this.spare.pop() ?? this.newPage(this.pageBytes);
    page.sizeClass = sizeClass;
    page.slotBytes = this.sizes[sizeClass] as number;
    page.slots = Math.floor(this.pageBytes / page.slotBytes);
    page.live = 0;
    page.begun = 0;
    page.freeSlot = NONE;
    this.freeSlots[sizeClass] = (this.freeSlots[sizeClass] as number) + page.slots;
    this.link(page);
    return page;
  }

  /**
   * A page for a single blob that is too long for shared pages. The page has spare space, so that a growing blob is not
   * copied on every append.
   */
  private ownPage(needed: number): Page {
    const page = this.newPage(sizeOf(needed));
    page.slotBytes = page.bytes.length;
    page.slots = 1;
    return page;
  }

  private newPage(length: number): Page {
    const number = this.freeNumbers.pop() ?? this.pages.length;
    assert(number <= 0xffffffff >>> this.shift, 'a place has 32 bits');
    const page = new Page(number, length);
    this.pages[number] = page;
    this.bytes += length;
    return page;
  }

  /** Removes an empty page from its size class. */
  private giveUp(page: Page): void {
    const { sizeClass } = page;
    this.freeSlots[sizeClass] = (this.freeSlots[sizeClass] as number) - (page.slots - page.live);
    if (page.live < page.slots) this.unlink(page);
    this.release(page);
  }

  private release(page: Page): void {
    const isSpare = page.sizeClass !== NONE && this.spare.length < SPARE_MAX;
    page.sizeClass = NONE;
    page.live = 0;
    if (isSpare) {
      page.slots = 0;
      this.spare.push(page);
      return;
    }
    this.pages[page.number] = undefined;
    this.freeNumbers.push(page.number);
    this.bytes -= page.bytes.length;
  }

  private link(page: Page): void {
    const newest = this.roomy[page.sizeClass];
    page.older = newest;
    page.newer = undefined;
    if (newest !== undefined) newest.newer = page;
    this.roomy[page.sizeClass] = page;
  }

  private unlink(page: Page): void {
    if (page.newer === undefined) this.roomy[page.sizeClass] = page.older;
    else page.newer.older = page.older;
    if (page.older !== undefined) page.older.newer = page.newer;
    page.newer = undefined;
    page.older = undefined;
  }

  private pageOf(place: number): Page {
    return this.pages[place >>> this.shift] as Page;
  }

  private wordOf(place: number): number {
    return ((place & this.mask) * GRANULE) / 4;
  }
}

/**
 * Up to this length, slot lengths increase by one granule. Beyond it, they increase by a quarter of a power of two, so
 * that a slot is at least 80 % full.
 */
const FINE_MAX = 128;
const FINE_CLASSES = FINE_MAX / GRANULE;

function sizesUpTo(most: number): number[] {
  const sizes = Array.from({ length: FINE_CLASSES }, (_, i) => (i + 1) * GRANULE);
  for (let power = FINE_MAX; power < most; power *= 2) {
    for (let quarter = 5; quarter <= 8; quarter++) sizes.push((power / 4) * quarter);
  }
  return sizes;
}

/** The page size for lengths beyond the largest size class, rounded up to the next quarter of a power of two. */
function sizeOf(length: number): number {
  const quarter = 2 ** (31 - Math.clz32(length - 1)) / 4;
  return Math.ceil(length / quarter) * quarter;
}

function classOf(length: number): number {
  if (length <= FINE_MAX) return Math.ceil(length / GRANULE) - 1;
  const power = 31 - Math.clz32(length - 1);
  const quarter = (length - 1 - 2 ** power) >>> (power - 2);
  return FINE_CLASSES + (power - 7) * 4 + quarter;
}

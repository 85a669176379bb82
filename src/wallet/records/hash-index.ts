/**
 * Maximum size of a partition before it is split in two. Splitting or enlarging a partition takes about ten
 * microseconds.
 */
const ENTRIES_MAX = 4096;
const SLOTS_MIN = 8;
/** Maximum and minimum share of slots in use. */
const LOAD_MAX = 0.8;
const LOAD_MIN = 0.4;
const GROWTH = 1.25;
/** The estimated ratio of the fullest partition to the average one. */
const SPREAD = 1.08;
/** All hashes with this many equal leading bits share one partition, even if there are very many of them. */
const DEPTH_MAX = 20;
/**
 * A full partition is not split if the directory is already this many times larger than the number of rows requires.
 * Without this limit, 4,097 hashes with equal leading bits double the directory repeatedly, up to a million entries, in
 * a single insert; this took 2.6 s.
 */
const SPARSE_MAX = 16;

/** Open addressing with linear probing. A slot is two words, hash and row; row 0 marks a free slot. */
interface Partition {
  slots: Uint32Array;
  capacity: number;
  count: number;
  /** Number of leading bits shared by all hashes in the partition. */
  depth: number;
}

/**
 * An index from the hash of a key to rows, stored outside V8's heap. The index grows in small steps: a directory,
 * indexed by the leading bits of the hash, points to partitions. Partitions grow by a quarter, and large ones are
 * split.
 */
export class HashIndex {
  count = 0;
  private depth = 0;
  private directory: Partition[] = [newPartition(SLOTS_MIN, 0)];
  private slots = SLOTS_MIN;

  /** The row with this hash for which `matches` returns true; 0 if there is none. */
  find(hash: number, matches: (row: number) => boolean): number {
    const { slots, capacity } = this.partitionOf(hash);
    for (let slot = firstSlot(hash, capacity); ; slot = slot + 1 === capacity ? 0 : slot + 1) {
      const row = slots[slot * 2 + 1] as number;
      if (row === 0) return 0;
      if (slots[slot * 2] === hash && matches(row)) return row;
    }
  }

  /** Sizes an empty index for this many rows, so that it need not grow step by step. */
  expect(count: number): void {
    if (this.count > 0 || count <= ENTRIES_MAX / 2) return;
    // Plan for half-full partitions, so that few of them are split.
    this.depth = Math.min(DEPTH_MAX, Math.ceil(Math.log2((count * 2) / ENTRIES_MAX)));
    const capacity = Math.ceil((count / 2 ** this.depth / LOAD_MAX) * SPREAD);
    this.directory = [newPartition(capacity, this.depth)];
    while (this.directory.length < 2 ** this.depth) this.directory.push(newPartition(capacity, this.depth));
    this.slots = this.directory.length * capacity;
  }

  /** Inserts a row that is not in the index yet. */
  insert(hash: number, row: number): void {
    let partition = this.partitionOf(hash);
    while (partition.count >= ENTRIES_MAX && this.maySplit(partition)) {
      this.split(hash, partition);
      partition = this.partitionOf(hash);
    }
    if (partition.count + 1 > partition.capacity * LOAD_MAX) this.resize(partition, partition.count + 1);
    put(partition, hash, row);
    this.count++;
  }

  delete(hash: number, row: number): void {
    const partition = this.partitionOf(hash);
    const { slots, capacity } = partition;
    let slot = firstSlot(hash, capacity);
    while (slots[slot * 2 + 1] !== row) slot = slot + 1 === capacity ? 0 : slot + 1;
    // Later entries of the probe run move up, unless that would put them before their own first slot.
    for (
      let next = slot + 1 === capacity ? 0 : slot + 1;
      slots[next * 2 + 1] !== 0;
      next = next + 1 === capacity ? 0 : next + 1
    ) {
      const first = firstSlot(slots[next * 2] as number, capacity);
      const isBetween = slot < next ? first > slot && first <= next : first > slot || first <= next;
      if (isBetween) continue;
      slots[slot * 2] = slots[next * 2] as number;
      slots[slot * 2 + 1] = slots[next * 2 + 1] as number;
      slot = next;
    }
    slots[slot * 2 + 1] = 0;
    partition.count--;
    this.count--;
    if (capacity > SLOTS_MIN && partition.count < capacity * LOAD_MIN) this.resize(partition, partition.count);
  }

  get bytes(): number {
    return this.slots * 8;
  }

  clear(): void {
    if (this.count === 0) return;
    this.count = 0;
    this.depth = 0;
    this.directory = [newPartition(SLOTS_MIN, 0)];
    this.slots = SLOTS_MIN;
  }

  private partitionOf(hash: number): Partition {
    return this.directory[this.depth === 0 ? 0 : hash >>> (32 - this.depth)] as Partition;
  }

  private maySplit({ depth }: Partition): boolean {
    return depth < DEPTH_MAX && 2 ** depth * ENTRIES_MAX < this.count * SPARSE_MAX;
  }

  private split(hash: number, partition: Partition): void {
    if (partition.depth === this.depth) this.doubleDirectory();
    const bit = 31 - partition.depth;
    const { slots, capacity } = partition;
    let ones = 0;
    for (let slot = 0; slot < capacity; slot++) {
      if (slots[slot * 2 + 1] !== 0) ones += ((slots[slot * 2] as number) >>> bit) & 1;
    }
    const depth = partition.depth + 1;
    const lower = newPartition(capacityFor(partition.count - ones), depth);
    const upper = newPartition(capacityFor(ones), depth);
    for (let slot = 0; slot < capacity; slot++) {
      const row = slots[slot * 2 + 1] as number;
      const entry = slots[slot * 2] as number;
      if (row !== 0) put(((entry >>> bit) & 1) === 0 ? lower : upper, entry, row);
    }
    const width = 2 ** (this.depth - partition.depth);
    const first = Math.floor((this.depth === 0 ? 0 : hash >>> (32 - this.depth)) / width) * width;
    for (let i = 0; i < width; i++) this.directory[first + i] = i < width / 2 ? lower : upper;
    this.slots += lower.capacity + upper.capacity - capacity;
  }

  /**
   * Every directory grows from a literal by `push`. Arrays from `flatMap` or `Array.from` have a different kind of
   * elements, and V8 would discard the code of every lookup at the first split.
   */
  private doubleDirectory(): void {
    const directory = [this.directory[0] as Partition];
    for (let i = 1; i < 2 * this.directory.length; i++) directory.push(this.directory[i >>> 1] as Partition);
    this.directory = directory;
    this.depth++;
  }

  private resize(partition: Partition, count: number): void {
    const { slots, capacity } = partition;
    partition.capacity = Math.max(SLOTS_MIN, Math.ceil((count / LOAD_MAX) * GROWTH));
    partition.slots = new Uint32Array(partition.capacity * 2);
    partition.count = 0;
    for (let slot = 0; slot < capacity; slot++) {
      const row = slots[slot * 2 + 1] as number;
      if (row !== 0) put(partition, slots[slot * 2] as number, row);
    }
    this.slots += partition.capacity - capacity;
  }
}

function newPartition(capacity: number, depth: number): Partition {
  return { slots: new Uint32Array(capacity * 2), capacity, count: 0, depth };
}

function capacityFor(count: number): number {
  return Math.max(SLOTS_MIN, Math.ceil(((count + 1) / LOAD_MAX) * GROWTH));
}

/** The low bits choose the slot, the high bits the partition. */
function firstSlot(hash: number, capacity: number): number {
  return ((hash & 0xffff) * capacity) >>> 16;
}

function put(partition: Partition, hash: number, row: number): void {
  const { slots, capacity } = partition;
  let slot = firstSlot(hash, capacity);
  while (slots[slot * 2 + 1] !== 0) slot = slot + 1 === capacity ? 0 : slot + 1;
  slots[slot * 2] = hash;
  slots[slot * 2 + 1] = row;
  partition.count++;
}

import { availableParallelism, totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { ConfigError } from '../config/config-error.js';
import type { Settings } from '../config/schema.js';
import { findGroupMemoryLimit } from './cgroup-memory.js';

const MIB = 1024 * 1024;
const SHARE_OF_MACHINE = 0.5;
/**
 * Holds only the working set of one thread. Records lie outside the heap (src/wallet/records), so the collector has
 * little to mark, however many players there are.
 */
const HEAP_MAX_BYTES = 512 * MIB;
/** With a smaller heap, a thread spends more time collecting garbage than working. */
const HEAP_MIN_BYTES = 32 * MIB;
const WORKERS_MAX = 3;
/**
 * Share of a heap for the young generation. In a small heap V8's default takes the space that the old generation needs.
 */
const YOUNG_SHARE = 1 / 16;
const YOUNG_MAX_BYTES = 16 * MIB;
/** Share of the heap that is filled before the first full collection. */
const FIRST_COLLECTION_SHARE = 1 / 4;

type HeapSettings = Pick<Settings, 'workers' | 'shards' | 'memory'>;

/** Number of worker threads: as set, or derived from the cores. One front end feeds at most three. */
export function workerCount(settings: HeapSettings): number {
  const cores = availableParallelism();
  const wanted = settings.workers ?? (cores <= 2 ? 0 : Math.min(cores - 2, WORKERS_MAX));
  return Math.min(wanted, settings.shards);
}

/** Memory limits of one thread: V8's heap, and the records of its shards outside. */
export interface MemoryShare {
  readonly heapMaxBytes: number;
  readonly recordsMaxBytes: number;
}

/**
 * Share of each thread with shards, of `memory.maxBytes` or half of the machine's memory. V8's heap limit at start
 * applies to every thread; with workers, the main thread has no records. Throws a `ConfigError` when a heap would be
 * too small.
 */
export function memoryShare(settings: HeapSettings): MemoryShare {
  const workers = workerCount(settings);
  const heaps = workers + 1;
  const all = settings.memory.maxBytes ?? Math.floor(machineBytes() * SHARE_OF_MACHINE);
  const heapMaxBytes = Math.min(HEAP_MAX_BYTES, Math.floor(all / heaps / 2));
  if (heapMaxBytes < HEAP_MIN_BYTES) {
    const threads = workers === 0 ? 'the only thread' : `each of ${heaps} threads`;
    throw new ConfigError(
      `memory.maxBytes leaves a heap of ${Math.floor(heapMaxBytes / MIB)} MiB to ${threads}, which needs ` +
        `${HEAP_MIN_BYTES / MIB}: raise it, or take fewer workers`,
    );
  }
  return { heapMaxBytes, recordsMaxBytes: Math.floor((all - heaps * heapMaxBytes) / Math.max(workers, 1)) };
}

/** Heap limit in effect: V8 has a lower limit when walletd was started without its launcher. */
export function effectiveHeapMaxBytes(settings: HeapSettings): number {
  return Math.min(memoryShare(settings).heapMaxBytes, getHeapStatistics().heap_size_limit);
}

/** Heap limit that V8 gives the main thread beside workers. */
export function mainHeapMaxBytes(): number {
  return getHeapStatistics().heap_size_limit;
}

/**
 * Options for V8's command line. Beside the heap limit, two options spend memory on fewer collections:
 *
 * - The young generation is twice V8's default where memory allows, and smaller in a small heap. A thread can take three
 *   times this size beyond the limit. A replay of three million events took 9.6 s instead of 12.7 s.
 * - The first full collection starts when the heap has reached a quarter of its limit. V8's default is a few MiB.
 */
export function heapOptions(settings: HeapSettings): string[] {
  const bytes = memoryShare(settings).heapMaxBytes;
  return [
    `--max-old-space-size=${inMib(bytes)}`,
    `--initial-old-space-size=${inMib(bytes * FIRST_COLLECTION_SHARE)}`,
    `--max-semi-space-size=${inMib(youngBytes(bytes))}`,
  ];
}

/** V8's semi-space for a heap with this limit: half of the young generation, a power of two. */
export function youngBytes(heapMaxBytes: number): number {
  return Math.min(2 ** Math.floor(Math.log2(heapMaxBytes * YOUNG_SHARE)), YOUNG_MAX_BYTES);
}

function inMib(bytes: number): number {
  return Math.floor(bytes / MIB);
}

function machineBytes(): number {
  // Node reads only the limit of the innermost group.
  return Math.min(
    ...[process.constrainedMemory(), findGroupMemoryLimit() ?? 0, totalmem()].filter((bytes) => bytes > 0),
  );
}

import { availableParallelism, totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { ConfigError } from '../../config/config-error.js';
import type { Settings } from '../../config/schema.js';
import { findGroupMemoryLimit } from './cgroup-memory.js';

const MIB = 1024 * 1024;
const SHARE_OF_MACHINE = 0.5;
/**
 * The heap contains only what one thread is working on. Records are stored outside the heap (src/wallet/records), so
 * the garbage collector has little to mark, even with many players.
 */
const HEAP_MAX_BYTES = 512 * MIB;
/** With a smaller heap, a thread would spend more time on garbage collection than on its work. */
const HEAP_MIN_BYTES = 32 * MIB;
const WORKERS_MAX = 3;
/**
 * Share of a heap that the young generation gets. V8's default would take space that the old generation of a small heap
 * needs.
 */
const YOUNG_SHARE = 1 / 16;
const YOUNG_MAX_BYTES = 16 * MIB;
/** Heap usage that triggers the first full collection, as a share of the heap limit. */
const FIRST_COLLECTION_SHARE = 1 / 4;

type HeapSettings = Pick<Settings, 'workers' | 'shards' | 'memory'>;

/**
 * Number of worker threads: configured, or derived from the number of cores. The main thread, which parses requests,
 * can keep at most three workers busy.
 */
export function workerCount(settings: HeapSettings): number {
  const cores = availableParallelism();
  const wanted = settings.workers ?? (cores <= 2 ? 0 : Math.min(cores - 2, WORKERS_MAX));
  return Math.min(wanted, settings.shards);
}

/** Memory limits of one thread: its V8 heap, and its shards' records outside the heap. */
export interface MemoryShare {
  readonly heapMaxBytes: number;
  readonly recordsMaxBytes: number;
}

/**
 * Memory share of each thread that has shards, taken from `memory.maxBytes` or half of the machine's memory. V8's heap
 * limit is set at startup and is the same for every thread. With workers, the main thread has no records. Throws a
 * `ConfigError` if a heap would be too small.
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
        `${HEAP_MIN_BYTES / MIB}: raise it, or use fewer workers`,
    );
  }
  return { heapMaxBytes, recordsMaxBytes: Math.floor((all - heaps * heapMaxBytes) / Math.max(workers, 1)) };
}

/**
 * Heap limit that is in force. If walletd was started without its launcher, V8's limit is lower than the configured
 * one.
 */
export function effectiveHeapMaxBytes(settings: HeapSettings): number {
  return Math.min(memoryShare(settings).heapMaxBytes, getHeapStatistics().heap_size_limit);
}

/** V8 heap limit of the main thread if there are worker threads. */
export function mainHeapMaxBytes(): number {
  return getHeapStatistics().heap_size_limit;
}

/**
 * V8 command-line options. In addition to the heap limit, two options use more memory to reduce garbage collection:
 *
 * - The young generation is twice V8's default where memory allows, and smaller in a small heap. A thread can exceed the
 *   heap limit by three times this size. A replay of three million events took 9.6 s instead of 12.7 s.
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

/** V8 semi-space size for a heap with this limit: half of the young generation, rounded to a power of two. */
export function youngBytes(heapMaxBytes: number): number {
  return Math.min(2 ** Math.floor(Math.log2(heapMaxBytes * YOUNG_SHARE)), YOUNG_MAX_BYTES);
}

function inMib(bytes: number): number {
  return Math.floor(bytes / MIB);
}

function machineBytes(): number {
  // Node considers only the limit of the innermost group.
  return Math.min(
    ...[process.constrainedMemory(), findGroupMemoryLimit() ?? 0, totalmem()].filter((bytes) => bytes > 0),
  );
}

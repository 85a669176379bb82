import { availableParallelism, totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { ConfigError } from '../config/config-error.js';
import type { Settings } from '../config/schema.js';
import { findGroupMemoryLimit } from './cgroup-memory.js';

const MIB = 1024 * 1024;
const SHARE_OF_MACHINE = 0.5;
/**
 * What one thread works on, and no more: records lie outside (src/wallet/records), so that the collector has little to
 * mark, however many players there are.
 */
const HEAP_MAX_BYTES = 512 * MIB;
/** In a smaller heap a thread spent more time collecting garbage than working. */
const HEAP_MIN_BYTES = 32 * MIB;
const WORKERS_MAX = 3;
/** Share of a heap; in a small heap V8's default takes the room that the old generation needs. */
const YOUNG_SHARE = 1 / 16;
const YOUNG_MAX_BYTES = 16 * MIB;
/** Of the heap, before it is collected as a whole for the first time. */
const FIRST_COLLECTION_SHARE = 1 / 4;

type HeapSettings = Pick<Settings, 'workers' | 'shards' | 'memory'>;

/** Worker threads: as set, or as many as the cores suggest; one front end feeds no more than three. */
export function workerCount(settings: HeapSettings): number {
  const cores = availableParallelism();
  const wanted = settings.workers ?? (cores <= 2 ? 0 : Math.min(cores - 2, WORKERS_MAX));
  return Math.min(wanted, settings.shards);
}

/** What a thread may take: V8's heap, and the records of its shards outside. */
export interface MemoryShare {
  readonly heapMaxBytes: number;
  readonly recordsMaxBytes: number;
}

/**
 * The share of each thread that has shards, of `memory.maxBytes` or half of the machine. The heap limit that V8 is started
 * with holds for every thread; beside workers the main thread has no records. Throws a `ConfigError` when a heap would be
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

/** The heap limit that holds: V8 was started with less when walletd was not started by its launcher. */
export function effectiveHeapMaxBytes(settings: HeapSettings): number {
  return Math.min(memoryShare(settings).heapMaxBytes, getHeapStatistics().heap_size_limit);
}

/** The limit that V8 gives the main thread beside workers. */
export function mainHeapMaxBytes(): number {
  return getHeapStatistics().heap_size_limit;
}

/**
 * Options for V8's command line. Beside the limit of a heap, two that spend memory on fewer collections:
 *
 * - The young generation is twice as large as V8's own, where there is room, and smaller in a small heap; a thread can
 *   take three times this much for it, beyond the limit. A replay of three million events took 9.6 s instead of 12.7.
 * - The whole heap is collected for the first time when it has a quarter of what it may have. V8 by itself begins with
 *   some MiB.
 */
export function heapOptions(settings: HeapSettings): string[] {
  const bytes = memoryShare(settings).heapMaxBytes;
  return [
    `--max-old-space-size=${inMib(bytes)}`,
    `--initial-old-space-size=${inMib(bytes * FIRST_COLLECTION_SHARE)}`,
    `--max-semi-space-size=${inMib(youngBytes(bytes))}`,
  ];
}

/** Half of the young generation of a heap with this limit: V8's semi-space, which is a power of two. */
export function youngBytes(heapMaxBytes: number): number {
  return Math.min(2 ** Math.floor(Math.log2(heapMaxBytes * YOUNG_SHARE)), YOUNG_MAX_BYTES);
}

function inMib(bytes: number): number {
  return Math.floor(bytes / MIB);
}

function machineBytes(): number {
  // Node knows the limit of the innermost group alone.
  return Math.min(
    ...[process.constrainedMemory(), findGroupMemoryLimit() ?? 0, totalmem()].filter((bytes) => bytes > 0),
  );
}

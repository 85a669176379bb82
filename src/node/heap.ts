import { availableParallelism, totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { ConfigError } from '../config/config-error.js';
import type { Settings } from '../config/schema.js';

const MIB = 1024 * 1024;
const SHARE_OF_MACHINE = 0.5;
/** With workers the main thread holds only what is in flight. */
const MAIN_SHARE = 0.25;
const MAIN_MAX_BYTES = 2048 * MIB;
/** In a smaller heap a thread spent more time collecting garbage than working. */
const WORKER_MIN_BYTES = 128 * MIB;
const WORKERS_MAX = 3;
/** In a heap of this size V8's own young generation is too small. */
const ROOMY_BYTES = 1024 * MIB;
const ROOMY_YOUNG_BYTES = 32 * MIB;
/** Share of a heap; in a small heap V8's default takes the room that the old generation needs. */
const YOUNG_SHARE = 1 / 16;
const YOUNG_MAX_BYTES = 16 * MIB;
const FIRST_COLLECTION_MAX_BYTES = 1024 * MIB;

type HeapSettings = Pick<Settings, 'workers' | 'shards' | 'memory'>;

/** Worker threads: as set, or as many as the cores suggest; one front end feeds no more than three. */
export function workerCount(settings: HeapSettings): number {
  const cores = availableParallelism();
  const wanted = settings.workers ?? (cores <= 2 ? 0 : Math.min(cores - 2, WORKERS_MAX));
  return Math.min(wanted, settings.shards);
}

/** Limit for all heaps together: as set, or half of the memory of the machine or container. */
function heapMaxBytes(settings: HeapSettings): number {
  return settings.memory.maxBytes ?? Math.floor(machineBytes() * SHARE_OF_MACHINE);
}

/** One worker's share. Throws a `ConfigError` when that is too little. */
function workerHeapMaxBytes(settings: HeapSettings): number {
  const count = workerCount(settings);
  const all = heapMaxBytes(settings);
  const main = Math.min(all * MAIN_SHARE, MAIN_MAX_BYTES);
  const bytes = Math.floor((all - main) / count);
  if (bytes < WORKER_MIN_BYTES) {
    throw new ConfigError(
      `memory.maxBytes leaves ${Math.floor(bytes / MIB)} MiB to each of ${count} workers, and each needs ` +
        `${WORKER_MIN_BYTES / MIB}: raise it, or take fewer`,
    );
  }
  return bytes;
}

/**
 * The heap limit that V8 is started with. It holds for every thread, whatever a worker is given: with workers it is
 * theirs, and the main thread stays far below it.
 */
export function threadHeapMaxBytes(settings: HeapSettings): number {
  return workerCount(settings) === 0 ? heapMaxBytes(settings) : workerHeapMaxBytes(settings);
}

/** The limit that holds: V8 was started with less when walletd was not started by its launcher. */
export function effectiveHeapMaxBytes(settings: HeapSettings): number {
  return Math.min(threadHeapMaxBytes(settings), getHeapStatistics().heap_size_limit);
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
 * - The whole heap is collected for the first time when it has a quarter of what it may have, or 1 GiB. V8 by
 *   itself begins with some MiB, and each time holds callbacks up for 50 to 100 ms: at 10,000/s p99 was 24 ms and is 8.
 */
export function heapOptions(settings: HeapSettings): string[] {
  const bytes = threadHeapMaxBytes(settings);
  const firstBytes = Math.min(bytes / 4, FIRST_COLLECTION_MAX_BYTES);
  return [
    `--max-old-space-size=${inMib(bytes)}`,
    `--initial-old-space-size=${inMib(firstBytes)}`,
    `--max-semi-space-size=${inMib(youngBytes(bytes))}`,
  ];
}

/** Half of the young generation of a heap with this limit: V8's semi-space, which is a power of two. */
export function youngBytes(heapMaxBytes: number): number {
  if (heapMaxBytes >= ROOMY_BYTES) return ROOMY_YOUNG_BYTES;
  return Math.min(2 ** Math.floor(Math.log2(heapMaxBytes * YOUNG_SHARE)), YOUNG_MAX_BYTES);
}

function inMib(bytes: number): number {
  return Math.floor(bytes / MIB);
}

function machineBytes(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

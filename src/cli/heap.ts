import { availableParallelism, totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { Settings } from '../config/schema.js';

const MIB = 1024 * 1024;
const SHARE_OF_MACHINE = 0.5;
/** Beside workers the main thread holds what is in flight only. */
const MAIN_SHARE = 0.25;
const MAIN_MAX_BYTES = 2048 * MIB;
const WORKERS_MAX = 3;

/** Worker threads: as set, or what the cores suggest: one front end feeds no more than three. */
export function workerCount(settings: Settings): number {
  const cores = availableParallelism();
  const wanted = settings.workers ?? (cores <= 2 ? 0 : Math.min(cores - 2, WORKERS_MAX));
  return Math.min(wanted, settings.shards);
}

/** Bytes that all heaps together may take: as set, or half of what the machine or the container has. */
function heapMaxBytes(settings: Settings): number {
  return settings.memory.maxBytes ?? Math.floor(machineBytes() * SHARE_OF_MACHINE);
}

function mainHeapMaxBytes(settings: Settings): number {
  const all = heapMaxBytes(settings);
  return workerCount(settings) === 0 ? all : Math.min(Math.floor(all * MAIN_SHARE), MAIN_MAX_BYTES);
}

/** Of one worker. */
export function workerHeapMaxBytes(settings: Settings): number {
  return Math.floor((heapMaxBytes(settings) - mainHeapMaxBytes(settings)) / workerCount(settings));
}

export interface MainHeap {
  readonly wantedBytes: number;
  /** What V8 was really started with can be less, when walletd was not started by its launcher. */
  readonly maxBytes: number;
}

export function mainHeap(settings: Settings): MainHeap {
  const wantedBytes = mainHeapMaxBytes(settings);
  return { wantedBytes, maxBytes: Math.min(wantedBytes, getHeapStatistics().heap_size_limit) };
}

/** V8 takes its heap limit only on its command line. */
export function heapOptions(settings: Settings): string[] {
  return [`--max-old-space-size=${Math.floor(mainHeapMaxBytes(settings) / MIB)}`];
}

/** V8's limit of a worker's heap. */
export function workerHeapMegabytes(settings: Settings): number {
  return Math.floor(workerHeapMaxBytes(settings) / MIB);
}

function machineBytes(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

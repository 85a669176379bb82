import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { Settings } from '../config/schema.js';

const MIB = 1024 * 1024;
const SHARE_OF_MACHINE = 0.5;

/** Bytes that the heap may take: as set, or half of what the machine or the container has. */
export function heapMaxBytes(settings: Settings): number {
  return settings.memory.maxBytes ?? Math.floor(machineBytes() * SHARE_OF_MACHINE);
}

/** What V8 was really started with can be less, when walletd was not started by its launcher. */
export function effectiveHeapMaxBytes(settings: Settings): number {
  return Math.min(heapMaxBytes(settings), getHeapStatistics().heap_size_limit);
}

/** V8 takes its heap limit only on its command line. */
export function heapOptions(settings: Settings): string[] {
  return [`--max-old-space-size=${Math.floor(heapMaxBytes(settings) / MIB)}`];
}

function machineBytes(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

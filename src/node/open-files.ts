import { readFileSync } from 'node:fs';

/**
 * File descriptors reserved for the store, the workers, the log and the operator API, whose connections have a separate
 * limit.
 */
const RESERVED = 1200;

/** Returns `wanted`, or less if this process may not open that many files. */
export function affordableConnections(wanted: number): number {
  const files = openFilesMax();
  return Math.min(wanted, Math.max(files - RESERVED, Math.floor(files / 2)));
}

/** Node has already raised the soft limit to the hard limit at startup. */
function openFilesMax(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

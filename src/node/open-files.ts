import { readFileSync } from 'node:fs';

/**
 * File descriptors reserved for the operator API, whose connections have their own limit, and for store, workers and
 * log.
 */
const RESERVED = 1200;

/** `wanted`, or fewer if this process may not open that many files. */
export function affordableConnections(wanted: number): number {
  const files = openFilesMax();
  return Math.min(wanted, Math.max(files - RESERVED, Math.floor(files / 2)));
}

/** Node has already raised the soft limit to the hard limit. */
function openFilesMax(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

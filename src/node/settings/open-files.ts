import { readFileSync } from 'node:fs';

/**
 * File descriptors that are reserved for the store, the workers, the log and the operator API, whose connections have a
 * separate limit.
 */
const RESERVED = 1200;

/** The number of connections that this process can open: `wanted`, or less if the limit on open files is too low. */
export function affordableConnections(wanted: number): number {
  const files = openFilesMax();
  return Math.min(wanted, Math.max(files - RESERVED, Math.floor(files / 2)));
}

/** At startup, Node has already raised the soft limit to the hard limit. */
function openFilesMax(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

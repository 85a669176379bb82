import { readFileSync } from 'node:fs';

/** File descriptors kept for the operator API, whose connections have a limit of their own, and for store, workers and log. */
const RESERVED = 1200;

/** `wanted`, or fewer where this process may not open that many files. */
export function affordableConnections(wanted: number): number {
  const files = openFilesMax();
  return Math.min(wanted, Math.max(files - RESERVED, Math.floor(files / 2)));
}

/** Node has raised the soft limit to the hard one by now. */
function openFilesMax(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

import { readFileSync } from 'node:fs';

/** For the operator API, whose connections have a limit of their own, and for store, workers and log. */
const OTHERS = 1200;

/** How many connections of so many this process has files for; all of them where the system does not tell. */
export function affordableConnections(wanted: number): number {
  const files = openFilesMax();
  return Math.min(wanted, Math.max(files - OTHERS, Math.floor(files / 2)));
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

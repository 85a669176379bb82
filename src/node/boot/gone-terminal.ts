import { closeSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';

/** File descriptors that were terminals at startup. */
const TERMINALS = [0, 1, 2].filter((fd) => isatty(fd));

/**
 * Replaces closed terminals, so that a clean exit does not look like a crash. At exit, Node resets each terminal to the
 * mode it had at startup. If a terminal was closed with its window, Node 20 dies of SIGABRT or SIGSEGV. A descriptor
 * that now refers to a different file is left alone. Call this last; otherwise another thread could get the
 * descriptor's number for a file of its own.
 */
export function replaceGoneTerminals(): void {
  for (const fd of TERMINALS) if (!isatty(fd)) replaceByNothing(fd);
}

function replaceByNothing(fd: number): void {
  try {
    closeSync(fd);
    // The system assigns the lowest free descriptor, which is the one that has just been closed.
    openSync('/dev/null', 'r+');
  } catch {
    // If this fails, the process exits as it would without this function.
  }
}

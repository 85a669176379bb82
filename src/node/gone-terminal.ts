import { closeSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';

/** File descriptors that were terminals at startup. */
const TERMINALS = [0, 1, 2].filter((fd) => isatty(fd));

/**
 * Replaces closed terminals, so that a clean exit does not look like a crash. At exit, Node resets each terminal to the
 * mode it had at startup. If a terminal has been closed with its window, Node 20 dies of SIGABRT or SIGSEGV. Leaves
 * descriptors alone that now refer to a different file. Call this last; otherwise another thread could reuse the
 * descriptor's number for its own file.
 */
export function replaceGoneTerminals(): void {
  for (const fd of TERMINALS) if (!isatty(fd)) replaceByNothing(fd);
}

function replaceByNothing(fd: number): void {
  try {
    closeSync(fd);
    // The system returns the lowest free descriptor, which is the one just closed.
    openSync('/dev/null', 'r+');
  } catch {
    // If this fails, the exit continues unchanged.
  }
}

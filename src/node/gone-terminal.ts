import { closeSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';

/** Descriptors that were terminals at the start. */
const TERMINALS = [0, 1, 2].filter((fd) => isatty(fd));

/**
 * Replaces terminals that have gone, so that a clean exit does not look like a crash. At exit Node resets each terminal
 * to the mode it had at the start. Node 20 then dies of SIGABRT or SIGSEGV if a terminal has gone, as with a closed
 * window. Descriptors that now belong to another file are left alone. Call this last: earlier, another thread could get
 * the descriptor's number for a file of its own.
 */
export function replaceGoneTerminals(): void {
  for (const fd of TERMINALS) if (!isatty(fd)) replaceByNothing(fd);
}

function replaceByNothing(fd: number): void {
  try {
    closeSync(fd);
    // The system returns the lowest free number, which is this one.
    openSync('/dev/null', 'r+');
  } catch {
    // The exit continues as before.
  }
}

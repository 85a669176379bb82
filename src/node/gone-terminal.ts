import { closeSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';

/** Descriptors that were terminals at the start. */
const TERMINALS = [0, 1, 2].filter((fd) => isatty(fd));

/**
 * At its end Node puts terminals back into the mode that they were in at its start, and 20 ends with SIGABRT or SIGSEGV when one
 * of them has gone, as with the window that walletd was started in: an end in good order would look like a crash. What
 * is no longer the same file is left alone. Called at the very end: until then another thread could get the number
 * of the descriptor for a file of its own.
 */
export function letGoOfGoneTerminals(): void {
  for (const fd of TERMINALS) if (!isatty(fd)) replaceByNothing(fd);
}

function replaceByNothing(fd: number): void {
  try {
    closeSync(fd);
    // The system gives the lowest number that is free, which is this one.
    openSync('/dev/null', 'r+');
  } catch {
    // The end goes on as it would have.
  }
}

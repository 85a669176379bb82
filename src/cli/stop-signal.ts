/** Whatever hangs: a process that was told to end ends. */
const STOP_MAX_MS = 3000;

/**
 * Aborted by SIGTERM and SIGINT; the work ends itself in good order then. When it has not in some seconds, for its store
 * does not answer, the process ends with what `exitCode` says.
 */
export function stopSignal(exitCode: () => number): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      stop.abort();
      setTimeout(() => process.exit(exitCode()), STOP_MAX_MS).unref();
    });
  }
  return stop.signal;
}

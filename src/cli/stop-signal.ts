/** After this time the process ends, whatever hangs. */
const STOP_MAX_MS = 3000;

/**
 * A signal that SIGTERM and SIGINT abort, for work that then ends in good order. If it has not ended some seconds later,
 * because its store does not answer, the process exits with `exitCode()`.
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

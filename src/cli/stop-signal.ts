/** By default, the process ends after this time even if some work hangs. */
const STOP_MAX_MS = 3000;

/**
 * Returns an abort signal that fires on SIGTERM and SIGINT, so that work can end cleanly. If the work has still not
 * ended after `maxMs` because another server does not answer, the process exits with `exitCode()`.
 */
export function stopSignal(exitCode: () => number, maxMs = STOP_MAX_MS): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      stop.abort();
      setTimeout(() => process.exit(exitCode()), maxMs).unref();
    });
  }
  return stop.signal;
}

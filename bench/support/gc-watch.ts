import { writeSync } from 'node:fs';
import { constants, PerformanceObserver } from 'node:perf_hooks';

/*
 * Preloaded into each thread of a server under test. Reports every full collection to the bench through a pipe, after
 * it ends. Full collections happen a few times a minute, so the cost of reports is negligible.
 */
const PIPE = 3;

/** A full collection, as one line of JSON. */
export interface FullCollection {
  /** The start of the collection, in milliseconds since 1970. */
  readonly fromMs: number;
  /** Pause of the thread at the end of the collection, without the incremental marking before it. */
  readonly pauseMs: number;
}

// Processes that the server forks inherit the preload, but their file 3 is the channel to the server.
if (process.channel === undefined) watch();

function watch(): void {
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { startTime, duration } = entry;
      if ((entry as { detail?: { kind: number } }).detail?.kind !== constants.NODE_PERFORMANCE_GC_MAJOR) continue;
      const collection: FullCollection = { fromMs: performance.timeOrigin + startTime, pauseMs: duration };
      writeSync(PIPE, `${JSON.stringify(collection)}\n`);
    }
  }).observe({ entryTypes: ['gc'] });
}

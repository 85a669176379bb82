import { writeSync } from 'node:fs';
import { constants, PerformanceObserver } from 'node:perf_hooks';

/*
 * Loaded before a server under test, in each of its threads: tells the bench, through a pipe, every collection of the
 * whole heap when it is over. They come some times in a minute, so that telling them costs nothing.
 */
const PIPE = 3;

/** One line of JSON. */
export interface FullCollection {
  /** Milliseconds since 1970. */
  readonly fromMs: number;
  /** For which the thread stood still at its end; marking in steps before that is not in it. */
  readonly pauseMs: number;
}

new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    const { startTime, duration } = entry;
    if ((entry as { detail?: { kind: number } }).detail?.kind !== constants.NODE_PERFORMANCE_GC_MAJOR) continue;
    const collection: FullCollection = { fromMs: performance.timeOrigin + startTime, pauseMs: duration };
    writeSync(PIPE, `${JSON.stringify(collection)}\n`);
  }
}).observe({ entryTypes: ['gc'] });

import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Metric } from '../base/metric.js';

const RESOLUTION_MS = 10;
const WINDOW_MS = 10_000;
const QUANTILES: readonly number[] = [0.5, 0.99, 1];
const NANOSECONDS = 1e9;

/** Heap and event loop of the thread that makes it. */
export class ThreadVitals {
  private readonly delays: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  private readonly timer: NodeJS.Timeout;
  /** Of the last whole window, so that it does not matter how often and by whom they are read. */
  private window: readonly number[] | undefined = undefined;

  /** `thread` is its name in labels. */
  constructor(
    private readonly thread: string,
    private readonly heapMaxBytes: number,
  ) {
    this.delays.enable();
    this.timer = setInterval(() => {
      this.window = this.delaysSeconds();
      this.delays.reset();
    }, WINDOW_MS);
    this.timer.unref();
  }

  metrics(): Metric[] {
    const labels = { thread: this.thread };
    const delays = this.window ?? this.delaysSeconds();
    const { used_heap_size: usedBytes } = getHeapStatistics();
    return [
      {
        name: 'walletd_heap_used_bytes',
        help: "Bytes used of a thread's heap, garbage included.",
        type: 'gauge',
        values: [{ labels, value: usedBytes }],
      },
      {
        name: 'walletd_heap_limit_bytes',
        help: "Bytes that a thread's heap may take; from 0.65 (a small heap) to 0.75 (a large one) on new bets are refused.",
        type: 'gauge',
        values: [{ labels, value: this.heapMaxBytes }],
      },
      {
        name: 'walletd_event_loop_delay_seconds',
        help: `By how much a thread's timers were late, in the last ${WINDOW_MS / 1000} s.`,
        type: 'gauge',
        values: QUANTILES.map((quantile, i) => ({ labels: { ...labels, quantile }, value: delays[i] as number })),
      },
    ];
  }

  close(): void {
    clearInterval(this.timer);
    this.delays.disable();
  }

  /** What is measured is the time between two ticks of a timer. */
  private delaysSeconds(): number[] {
    return QUANTILES.map((quantile) => {
      const seconds = this.delays.percentile(quantile * 100) / NANOSECONDS;
      return Math.max(0, seconds - RESOLUTION_MS / 1000);
    });
  }
}

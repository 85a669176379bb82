import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Metric } from '../../base/metric.js';
import { gauge } from '../../telemetry/metric.js';

const RESOLUTION_MS = 10;
const WINDOW_MS = 10_000;
const QUANTILES: readonly number[] = [0.5, 0.99, 1];
const NANOSECONDS = 1e9;

/** Heap and event loop of the thread that makes it. */
export class ThreadVitals {
  private readonly delays: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  private readonly timer: NodeJS.Timeout;
  /** The delays of the last complete window, so that a scrape does not reset what another scrape reads. */
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
      gauge('walletd_heap_used_bytes', "Bytes used of a thread's heap, garbage included.", [
        { labels, value: usedBytes },
      ]),
      gauge(
        'walletd_heap_limit_bytes',
        "Bytes that a thread's heap may take; from 0.65 (a small heap) to 0.75 (a large one) on new bets are refused.",
        [{ labels, value: this.heapMaxBytes }],
      ),
      gauge(
        'walletd_event_loop_delay_seconds',
        `By how much a thread's timers were late, in the last ${WINDOW_MS / 1000} s.`,
        QUANTILES.map((quantile, i) => ({ labels: { ...labels, quantile }, value: delays[i] as number })),
      ),
    ];
  }

  close(): void {
    clearInterval(this.timer);
    this.delays.disable();
  }

  /** The histogram holds the time between two ticks of a timer, its resolution included. */
  private delaysSeconds(): number[] {
    return QUANTILES.map((quantile) => {
      const seconds = this.delays.percentile(quantile * 100) / NANOSECONDS;
      return Math.max(0, seconds - RESOLUTION_MS / 1000);
    });
  }
}

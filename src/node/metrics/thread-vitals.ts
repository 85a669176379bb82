import { createHistogram } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Metric } from '../../base/metric.js';
import { type Cancel, systemTimers } from '../../base/timers.js';
import { gauge } from '../../telemetry/metric.js';

/**
 * Interval of the event-loop measurement. Node's own histogram uses 10 ms, which would wake an idle thread more often
 * than all its other timers combined.
 */
const TICK_MS = 50;
const WINDOW_MS = 10_000;
const QUANTILES: readonly number[] = [0.5, 0.99, 1];
const MICROSECONDS = 1e6;

/** Heap and event-loop metrics of the thread that constructs it. */
export class ThreadVitals {
  /** Event-loop delays in microseconds, each at least 1. */
  private readonly delays = createHistogram();
  private readonly cancels: readonly Cancel[];
  private tickedMs = performance.now();
  /**
   * Delays in the last complete window. If several programs scrape this process, all of them read the complete window,
   * so that none of them resets the values for the others.
   */
  private window: readonly number[] | undefined = undefined;

  /** `thread` is the thread name used in labels. */
  constructor(
    private readonly thread: string,
    private readonly heapMaxBytes: number,
  ) {
    this.cancels = [
      systemTimers.every(TICK_MS, () => this.tick()),
      systemTimers.every(WINDOW_MS, () => {
        this.window = this.delaysSeconds();
        this.delays.reset();
      }),
    ];
  }

  metrics(): Metric[] {
    const labels = { thread: this.thread };
    const delays = this.window ?? this.delaysSeconds();
    const { used_heap_size: usedBytes } = getHeapStatistics();
    return [
      gauge('walletd_heap_used_bytes', "Bytes in use on a thread's heap, including garbage.", [
        { labels, value: usedBytes },
      ]),
      gauge(
        'walletd_heap_limit_bytes',
        "Maximum size of a thread's heap, in bytes. New bets are refused when 0.65 (small heap) to 0.75 (large heap) of it are used.",
        [{ labels, value: this.heapMaxBytes }],
      ),
      gauge(
        'walletd_event_loop_delay_seconds',
        `Delay of a thread's timers in the last ${WINDOW_MS / 1000} s, in seconds.`,
        QUANTILES.map((quantile, i) => ({ labels: { ...labels, quantile }, value: delays[i] as number })),
      ),
    ];
  }

  close(): void {
    for (const cancel of this.cancels) cancel();
  }

  private tick(): void {
    const nowMs = performance.now();
    this.delays.record(Math.max(1, Math.round((nowMs - this.tickedMs - TICK_MS) * 1000)));
    this.tickedMs = nowMs;
  }

  private delaysSeconds(): number[] {
    return QUANTILES.map((quantile) => this.delays.percentile(quantile * 100) / MICROSECONDS);
  }
}

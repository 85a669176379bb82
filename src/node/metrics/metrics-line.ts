import type { Logger } from '../../base/logger.js';
import type { CompletedAppend } from '../../ports/shard-observer.js';
import { Distribution } from '../../telemetry/distribution.js';
import type { MemoryGuard } from '../../upkeep/memory-guard.js';

/** Totals since the thread started, by name. */
export interface Counters {
  readonly commands: number;
  readonly [name: string]: number;
}

/** Logs the periodic `metrics` line with one thread's counters, for operators without Prometheus. */
export class MetricsLine {
  /** Collects the values since the previous line. */
  private readonly repliesPerRound = new Distribution();
  private readonly appendUs = new Distribution();
  private readonly timer: NodeJS.Timeout | undefined;
  private commandsReported = 0;

  /** If `everySeconds` is 0, only one line is written, at the end. */
  constructor(
    private readonly log: Logger,
    private readonly memory: MemoryGuard,
    everySeconds: number,
    private readonly counters: () => Counters,
  ) {
    this.timer = everySeconds > 0 ? setInterval(() => this.write(), everySeconds * 1000).unref() : undefined;
  }

  landed({ replies, tookMs }: CompletedAppend): void {
    this.repliesPerRound.record(replies);
    this.appendUs.record(tookMs * 1000);
  }

  close(): void {
    clearInterval(this.timer);
    this.write();
  }

  /** An idle thread logs nothing. */
  private write(): void {
    const counters = this.counters();
    if (counters.commands === this.commandsReported) return;
    this.commandsReported = counters.commands;
    const { memory } = this;
    this.log.info(
      {
        counters,
        repliesPerRound: this.repliesPerRound.take(),
        appendUs: this.appendUs.take(),
        heapUsedBytes: memory.usedBytes(),
        heapMaxBytes: memory.heapMaxBytes,
      },
      'metrics',
    );
  }
}

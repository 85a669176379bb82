import type { Logger } from '../base/ports.js';
import type { ShardObserver } from '../shard/shard.js';
import { Counters, Distribution } from '../telemetry/metrics.js';
import type { Command } from '../wallet/command.js';
import type { Decision } from '../wallet/decision.js';
import type { MemoryGuard } from '../worker/memory-guard.js';

/** Counts what shards do, and says so on the log from time to time. */
export class ShardTelemetry implements ShardObserver {
  private readonly counters = new Counters();
  private readonly repliesPerRound = new Distribution();
  private readonly appendUs = new Distribution();
  private readonly timer: NodeJS.Timeout | undefined;
  private lastCount = 0;

  constructor(
    private readonly log: Logger,
    private readonly memory: MemoryGuard,
    everySeconds: number,
  ) {
    if (everySeconds > 0) this.timer = setInterval(() => this.report(), everySeconds * 1000).unref();
  }

  decided(shard: number, command: Command, decision: Decision): void {
    const { answer, remarks } = decision;
    this.counters.add('commands');
    if (answer.type === 'failed') this.counters.add(answer.failure);
    for (const remark of remarks) {
      this.counters.add(remark);
      if (remark === 'amount-mismatch' && command.type === 'voidSettled') {
        const { id, username, productId } = command;
        this.log.warn({ shard, requestId: id, username, productId }, 'a void did not name the amounts that had moved');
      }
    }
  }

  landed(_shard: number, replies: number, events: number, bytes: number, tookMs: number): void {
    this.repliesPerRound.record(replies);
    this.appendUs.record(tookMs * 1000);
    this.counters.add('events', events);
    this.counters.add('bytes', bytes);
  }

  close(): void {
    clearInterval(this.timer);
    this.report();
  }

  /** An idle server says nothing. */
  private report(): void {
    const count = this.counters.get('commands');
    if (count === this.lastCount) return;
    this.lastCount = count;
    this.log.info(
      {
        counters: this.counters.all(),
        repliesPerRound: this.repliesPerRound.take(),
        appendUs: this.appendUs.take(),
        heapUsedBytes: this.memory.usedBytes(),
        heapMaxBytes: this.memory.maxBytes,
      },
      'metrics',
    );
  }
}

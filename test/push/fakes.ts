import type { FeedPage, FeedSource } from '../../src/push/pump.js';
import { Retry, type RetryDeps } from '../../src/push/retry.js';
import type { PushedEvent, Sink } from '../../src/push/sink.js';
import { RecordedLog } from './recorded-log.js';

export function eventOf(subject: string, index: number): PushedEvent {
  return { id: `0-1-${index}-0`, type: 'walletd.bet.placed', subject };
}

/** Retries without waiting: virtual time advances by each pause. */
export class VirtualRetries {
  readonly log = new RecordedLog();
  readonly stopping = new AbortController();
  readonly pausesMs: number[] = [];
  nowMs = 0;

  readonly deps: RetryDeps = {
    log: this.log,
    delay: async (ms, stop) => {
      this.pausesMs.push(ms);
      this.nowMs += ms;
      await new Promise(setImmediate);
      stop.throwIfAborted();
    },
    random: () => 0,
    monotonicMs: () => this.nowMs,
    stop: this.stopping.signal,
  };

  retry(side: 'sink' | 'server'): Retry {
    return new Retry(this.deps, { code: `feed-${side}-away`, away: 'away', back: `${side} back`, name: side });
  }
}

/** A feed of events with positions `1`, `2` and so on, in pages of two. Ends the process when all are acknowledged. */
export class FakeFeed implements FeedSource {
  readonly acknowledged: string[] = [];
  pulls = 0;
  isOpen = false;

  constructor(
    private readonly events: readonly PushedEvent[],
    private readonly end: () => void,
    private readonly lost: readonly object[] = [],
  ) {}

  async open(): Promise<void> {
    this.isOpen = true;
  }

  async pull(): Promise<FeedPage> {
    this.pulls++;
    const begin = Number(this.acknowledged.at(-1) ?? 0);
    const events = this.events.slice(begin, begin + 2);
    return { events, next: String(begin + events.length), lost: begin === 0 ? this.lost : [] };
  }

  async acknowledge(position: string): Promise<void> {
    this.acknowledged.push(position);
    if (Number(position) === this.events.length) this.end();
  }
}

/** Confirms events, or fails as often as `failures` says. */
export class FakeSink implements Sink {
  readonly confirmed: PushedEvent[] = [];

  constructor(
    public failures = 0,
    private readonly failed: () => void = () => {},
  ) {}

  async send(events: readonly PushedEvent[]): Promise<void> {
    if (this.failures-- > 0) {
      this.failed();
      throw new Error('the sink is away');
    }
    this.confirmed.push(...events);
  }

  async close(): Promise<void> {}
}

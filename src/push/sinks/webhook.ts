import { Agent as PlainAgent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { Logger } from '../../base/logger.js';
import type { DeadLetters } from '../dead-letters.js';
import { inPlayerOrder } from '../in-player-order.js';
import { post } from '../post.js';
import type { Retry } from '../retry.js';
import type { PushedEvent, Sink } from '../sink.js';
import { signedHeaders } from '../webhook-signature.js';

const TIMEOUT_MS = 15_000;
/**
 * Number of refusals after which an event becomes a dead letter. With the pauses between them, they take about two
 * minutes.
 */
const REFUSALS_MAX = 10;
/** Statuses that say nothing about the event: the receiver is busy, or the proxy in front of it does not reach it. */
const AWAY: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504]);

export interface WebhookOptions {
  readonly url: URL;
  readonly keys: readonly Buffer[];
  /** Maximum number of requests at a time. */
  readonly parallel: number;
  readonly deadLetters: DeadLetters;
  /** Repeats an event while the receiver is away, so that an outage makes no dead letter. */
  readonly retry: Retry;
  readonly now: () => number;
  readonly log: Logger;
}

/** Posts each event to a receiver, with a signature. Any answer from 200 to 299 confirms the event. */
export class WebhookSink implements Sink {
  private readonly agent: PlainAgent;

  constructor(private readonly options: WebhookOptions) {
    const pool = { keepAlive: true, maxSockets: options.parallel };
    this.agent = options.url.protocol === 'https:' ? new TlsAgent(pool) : new PlainAgent(pool);
  }

  async send(events: readonly PushedEvent[]): Promise<void> {
    await inPlayerOrder(events, this.options.parallel, (event) => this.deliver(event));
  }

  async close(): Promise<void> {
    this.agent.destroy();
  }

  private async deliver(event: PushedEvent): Promise<void> {
    const { retry, deadLetters, log } = this.options;
    const body = JSON.stringify(event);
    for (let refusals = 1; ; refusals++) {
      const status = await retry.run(() => this.attempt(event.id, body));
      if (isSuccess(status)) return;
      if (refusals === REFUSALS_MAX) {
        await retry.run(() => deadLetters.add(event));
        log.warn(
          { code: 'feed-dead-letter', event: event.id, status },
          'receiver refused an event, kept as dead letter',
        );
        return;
      }
      await retry.pause(refusals);
    }
  }

  /** Resolves to the status with which the receiver confirms or refuses the event. Rejects if the receiver is away. */
  private async attempt(id: string, body: string): Promise<number> {
    const { url, keys, now } = this.options;
    const headers = {
      'content-type': 'application/cloudevents+json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      ...signedHeaders(keys, id, Math.floor(now() / 1000), body),
    };
    const status = await post({ url, agent: this.agent, headers, body, timeoutMs: TIMEOUT_MS });
    if (AWAY.has(status)) throw new Error(`the receiver answers ${status}`);
    return status;
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

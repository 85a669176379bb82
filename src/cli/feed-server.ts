import { ConfigError } from '../config/config-error.js';
import type { FeedPage, FeedSource } from '../push/pump.js';
import { ToolError } from '../tools/store-reader.js';
import { codeOf, type OperatorApi } from '../tools/verify/operator-api.js';

/** The time for which the server holds a pull that finds no events. */
const WAIT_SECONDS = 20;
const ANSWER_MS = 15_000;
/** Statuses after which the same request may succeed: the server is starting, moving a shard, or busy. */
const MAY_SUCCEED: ReadonlySet<number> = new Set([401, 429, 500, 502, 503, 504]);

export interface FeedDefinition {
  readonly name: string;
  readonly filter: { readonly types?: string[]; readonly products?: string[]; readonly currencies?: string[] };
  /** "now", "start" or a position. */
  readonly from: string;
}

/** One feed of a running server, through its operator API. */
export class FeedServer implements FeedSource {
  private readonly path: string;

  constructor(
    private readonly api: OperatorApi,
    private readonly definition: FeedDefinition,
    private readonly limit: number,
    private readonly stop: AbortSignal,
  ) {
    this.path = `/v1/feeds/${encodeURIComponent(definition.name)}`;
  }

  /** Rejects with a `ConfigError` if the feed exists with another definition. */
  async open(): Promise<void> {
    const { name, filter, from } = this.definition;
    const body = Object.keys(filter).length === 0 ? { name, from } : { name, filter, from };
    await this.ask('POST', '/v1/feeds', ANSWER_MS, body);
  }

  async pull(): Promise<FeedPage> {
    const query = new URLSearchParams({ limit: String(this.limit), wait: String(WAIT_SECONDS) });
    const text = await this.ask('GET', `${this.path}/events?${query}`, WAIT_SECONDS * 1000 + ANSWER_MS);
    const page = JSON.parse(text) as FeedPage;
    if (!Array.isArray(page.events) || typeof page.next !== 'string') {
      throw new Error(`the program at ${this.api.url} does not answer like walletd`);
    }
    return page;
  }

  async acknowledge(position: string): Promise<void> {
    await this.ask('POST', `${this.path}/ack`, ANSWER_MS, { position });
  }

  /**
   * Rejects with a `UserError` only if the same request can never succeed, because the caller retries after any other
   * error.
   */
  private async ask(method: string, path: string, timeoutMs: number, body?: object): Promise<string> {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    // The signal ends only a pull early, because an acknowledgement may still succeed while the process ends.
    const stop = method === 'GET' ? this.stop : undefined;
    const { status, text } = await this.api.reply(method, path, timeoutMs, sent, stop).catch((error: Error) => {
      throw error instanceof ToolError ? new Error(error.message, { cause: error }) : error;
    });
    if (status < 300) return text;
    const refused = this.api.refused(status, text);
    if (MAY_SUCCEED.has(status)) throw new Error(refused.message);
    // The exit code of a `ConfigError` keeps systemd from a restart, which would create the feed again without the
    // events in between.
    if (codeOf(text) === 'feed-not-found') {
      throw new ConfigError(`the feed ${this.definition.name} was deleted. Start again to create a new one`);
    }
    throw status === 409 ? new ConfigError(`${refused.message}. Name another feed, or delete this one`) : refused;
  }
}

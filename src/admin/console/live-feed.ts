import type { ServerResponse } from 'node:http';
import type { OverviewSource } from '../admin-deps.js';
import { Problem } from '../problem.js';

const TICK_MS = 1000;
const LISTENERS_MAX = 32;
/** Then a page has to come again, and is asked who it is. */
const STREAM_MS_MAX = 600_000;
const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // nginx would collect it.
  'X-Accel-Buffering': 'no',
};

/** Tells everybody who looks how things are, once a second. While nobody looks nothing is measured. */
export class LiveFeed {
  /** By listener, how many more messages he gets. */
  private readonly listeners = new Map<ServerResponse, number>();
  private timer: NodeJS.Timeout | undefined = undefined;
  /** Whoever comes is told it at once. */
  private newest = '';

  constructor(private readonly source: OverviewSource) {}

  join(response: ServerResponse): void {
    if (this.listeners.size >= LISTENERS_MAX) {
      throw new Problem(503, `${LISTENERS_MAX} pages are looking already: close some`, 'overloaded');
    }
    response.writeHead(200, HEADERS);
    if (this.timer === undefined) {
      this.source.begin();
      this.newest = eventOf('overview', this.source.take());
      this.timer = setInterval(() => this.tell(), TICK_MS);
    }
    this.listeners.set(response, Math.round(STREAM_MS_MAX / TICK_MS));
    response.once('close', () => this.leave(response));
    response.write(eventOf('hour', this.source.lastHour()) + this.newest);
  }

  close(): void {
    for (const response of this.listeners.keys()) response.end();
  }

  private leave(response: ServerResponse): void {
    this.listeners.delete(response);
    if (this.listeners.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private tell(): void {
    this.newest = eventOf('overview', this.source.take());
    for (const [response, left] of this.listeners) {
      this.listeners.set(response, left - 1);
      if (left <= 0) response.end();
      // Who does not read misses some, and loses the connection when that goes on.
      else if (!response.writableNeedDrain) response.write(this.newest);
    }
  }
}

function eventOf(type: string, data: unknown): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

import type { ServerResponse } from 'node:http';
import type { OverviewSource } from '../admin-deps.js';
import { Problem } from '../problem.js';

const TICK_MS = 1000;
const LISTENERS_MAX = 32;
/** Maximum duration of a stream. After it, a page must reconnect and authenticate again. */
const STREAM_MS_MAX = 600_000;
const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // Without this header, nginx would buffer the stream.
  'X-Accel-Buffering': 'no',
};

/** Sends the current state to all viewers once a second. Measures nothing while there are no viewers. */
export class LiveFeed {
  /** Messages left to send before the stream is closed, by viewer. */
  private readonly listeners = new Map<ServerResponse, number>();
  private timer: NodeJS.Timeout | undefined = undefined;
  /** The newest message, which new viewers receive immediately. */
  private newest = '';

  constructor(private readonly source: OverviewSource) {}

  join(response: ServerResponse): void {
    if (this.listeners.size >= LISTENERS_MAX) {
      throw new Problem(503, `${LISTENERS_MAX} pages are already open: close some`, 'overloaded');
    }
    response.writeHead(200, HEADERS);
    if (this.timer === undefined) {
      this.source.begin();
      this.newest = eventOf('overview', this.source.take());
      this.timer = setInterval(() => this.notify(), TICK_MS);
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

  private notify(): void {
    this.newest = eventOf('overview', this.source.take());
    for (const [response, left] of this.listeners) {
      this.listeners.set(response, left - 1);
      if (left <= 0) response.end();
      // A client that does not read its stream misses messages. If it does not start reading again, the server's idle
      // timeout disconnects it.
      else if (!response.writableNeedDrain) response.write(this.newest);
    }
  }
}

function eventOf(type: string, data: unknown): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { FeedEvent } from '../../src/feed/event.js';
import { ConsumerBooks } from '../support/consumer-books.js';
import { FeedConsumer } from '../support/feed-consumer.js';
import { until } from '../support/until.js';
import { FeedScene } from './feed-scene.js';

const PAGE_EVENTS = 500;
const RETRY_MS = 50;

/** A consumer of a stream, which connects again whenever its connection ends. */
class StreamConsumer {
  readonly books = new ConsumerBooks();
  /** Number of connections that have brought a page. */
  connections = 0;
  private connection = new AbortController();
  private isOver = false;

  constructor(
    private readonly scene: FeedScene,
    private readonly feed: FeedConsumer,
  ) {}

  async run(): Promise<void> {
    while (!this.isOver) {
      this.connection = new AbortController();
      try {
        await this.readStream(this.connection.signal);
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        await delay(RETRY_MS);
      }
    }
  }

  /** Breaks the connection off, between any two bytes. */
  disconnect(): void {
    this.connection.abort();
  }

  end(): void {
    this.isOver = true;
    this.disconnect();
  }

  private async readStream(signal: AbortSignal): Promise<void> {
    const { adminUrl, feed } = this.scene;
    const { ok, body } = await fetch(`${adminUrl}/v1/feeds/${feed}/stream?limit=${PAGE_EVENTS}`, { signal });
    if (!ok || body === null) throw new Error('the stream was refused');
    let pages = 0;
    let rest = '';
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split('\n');
      rest = lines.pop() as string;
      for (const line of lines) {
        const { events, next } = JSON.parse(line) as { events?: FeedEvent[]; next: string };
        if (events === undefined) throw new Error(`the stream ended with a problem: ${line}`);
        if (pages++ === 0) this.connections++;
        for (const event of events) this.books.take(event);
        await this.feed.acknowledge(adminUrl, next);
      }
    }
  }
}

test('a stream has every event in order despite kill -9 of its server', async (t) => {
  const scene = await FeedScene.start(t);
  const feed = new FeedConsumer(scene.feed, () => {});
  await feed.create(scene.adminUrl);
  const consumer = new StreamConsumer(scene, feed);
  const running = consumer.run();
  const connected = (connections: number) =>
    until(`connection ${connections} brings a page`, () => consumer.connections >= connections);
  await connected(1);
  await scene.goesOn('after the start');
  consumer.disconnect();
  await connected(2);
  await scene.restartServer();
  await connected(3);
  await scene.end();
  consumer.end();
  await running;
  await scene.check(consumer.books, t);
});

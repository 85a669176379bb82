import { Redis } from 'ioredis';
import { Connection } from '../connection.js';
import type { PushedEvent, Sink } from '../sink.js';
import { within } from '../within.js';

const CONNECT_MS = 5000;
const ANSWER_MS = 15_000;

/**
 * Adds each event to a Redis Stream, with the fields id, type and data. A page is one transaction, because otherwise a
 * Redis that is full could refuse one event and take later ones of the same player.
 */
export class RedisStreamSink implements Sink {
  private readonly connection: Connection<Redis>;

  constructor(
    address: string,
    private readonly stream: string,
    /** Redis deletes the oldest events of a longer stream. Undefined keeps all events. */
    private readonly lengthMax: number | undefined,
  ) {
    this.connection = new Connection(
      () => connect(address),
      (client) => client.disconnect(),
    );
  }

  async send(events: readonly PushedEvent[]): Promise<void> {
    await this.connection.use(async (client) => {
      const transaction = client.multi();
      const bound = this.lengthMax === undefined ? [] : ['MAXLEN', '~', String(this.lengthMax)];
      for (const event of events) {
        const fields = ['id', event.id, 'type', event.type, 'data', JSON.stringify(event)];
        transaction.xadd(this.stream, ...bound, '*', ...fields);
      }
      const results = await within(ANSWER_MS, 'Redis', transaction.exec());
      if (results === null) throw new Error('Redis discarded the transaction');
      for (const [error] of results) if (error !== null) throw error;
    });
  }

  async close(): Promise<void> {
    await this.connection.close();
  }
}

async function connect(address: string): Promise<Redis> {
  const client = new Redis(address, {
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    // The pump repeats a page. A client that repeats commands by itself could add events out of order.
    retryStrategy: () => null,
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: null,
  });
  // Each command reports its own error.
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    client.disconnect();
    throw error;
  }
}

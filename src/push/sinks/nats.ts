import { type JetStreamClient, jetstream } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { Connection } from '../connection.js';
import { inPlayerOrder } from '../in-player-order.js';
import type { PushedEvent, Sink } from '../sink.js';

const CONNECT_MS = 5000;
const CONFIRM_MS = 10_000;
const PARALLEL = 256;

interface Client {
  readonly connection: NatsConnection;
  readonly stream: JetStreamClient;
}

/**
 * Publishes each event to a JetStream stream. The subject is the event's type, after a prefix if there is one. The
 * message id is the event's, so that the stream drops repeats within its duplicate window.
 */
export class NatsSink implements Sink {
  private readonly connection: Connection<Client>;

  constructor(
    address: URL,
    private readonly prefix: string,
  ) {
    this.connection = new Connection(
      () => open(address),
      ({ connection }) => connection.close(),
    );
  }

  async send(events: readonly PushedEvent[]): Promise<void> {
    await this.connection.use(({ stream }) =>
      // The stream can refuse one event and take the next, so the events of one player wait for each other.
      inPlayerOrder(events, PARALLEL, async (event) => {
        const subject = this.prefix === '' ? event.type : `${this.prefix}.${event.type}`;
        await stream.publish(subject, JSON.stringify(event), { msgID: event.id, timeout: CONFIRM_MS });
      }),
    );
  }

  async close(): Promise<void> {
    await this.connection.close();
  }
}

async function open({ protocol, host, username, password }: URL): Promise<Client> {
  const connection = await connect({
    servers: host,
    name: 'walletd feed',
    timeout: CONNECT_MS,
    // The pump repeats a page on a new connection.
    reconnect: false,
    ...(username !== '' && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
    ...(protocol === 'tls:' && { tls: {} }),
  });
  return { connection, stream: jetstream(connection) };
}

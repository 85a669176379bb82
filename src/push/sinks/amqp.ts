import type { Duplex } from 'node:stream';
import { type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import { Connection } from '../connection.js';
import { inPlayerOrder } from '../in-player-order.js';
import type { PushedEvent, Sink } from '../sink.js';
import { within } from '../within.js';

const CONNECT_MS = 5000;
const CONFIRM_MS = 15_000;
const CLOSE_MS = 2000;
const PARALLEL = 256;

interface Client {
  readonly connection: ChannelModel;
  readonly channel: ConfirmChannel;
  /**
   * Ids of messages that the broker returned because no queue takes them. The broker confirms each of them
   * nevertheless; the id is then removed.
   */
  readonly returned: Set<string>;
}

/**
 * Publishes each event to an AMQP 0.9.1 exchange as a persistent message, whose routing key is the event's type and whose
 * message id is the event's. A message that no queue takes counts as not confirmed.
 */
export class AmqpSink implements Sink {
  private readonly connection: Connection<Client>;

  constructor(
    address: string,
    private readonly exchange: string,
  ) {
    this.connection = new Connection(
      () => open(address),
      ({ connection }) => end(connection),
    );
  }

  async send(events: readonly PushedEvent[]): Promise<void> {
    await this.connection.use((client) =>
      // The broker can refuse one event and take the next, so the events of one player wait for each other.
      inPlayerOrder(events, PARALLEL, (event) =>
        within(CONFIRM_MS, 'the AMQP broker', publish(client, this.exchange, event)),
      ),
    );
  }

  async close(): Promise<void> {
    await this.connection.close();
  }
}

function publish({ channel, returned }: Client, exchange: string, event: PushedEvent): Promise<void> {
  const { id, type } = event;
  return new Promise((resolve, reject) => {
    const options = {
      persistent: true,
      mandatory: true,
      messageId: id,
      type,
      contentType: 'application/cloudevents+json',
    };
    channel.publish(exchange, type, Buffer.from(JSON.stringify(event)), options, (error) => {
      // The broker returns a message before it confirms it.
      const wasReturned = returned.delete(id);
      if (error !== null && error !== undefined) reject(error);
      else if (wasReturned) reject(new Error(`no queue is bound to ${exchange} for ${type}`));
      else resolve();
    });
  });
}

async function open(address: string): Promise<Client> {
  const connection = await connect(address, { timeout: CONNECT_MS });
  // Each message reports its own error.
  connection.on('error', () => {});
  try {
    const channel = await within(CONNECT_MS, 'the AMQP broker', connection.createConfirmChannel());
    const returned = new Set<string>();
    channel.on('error', () => {});
    channel.on('return', ({ properties }) => returned.add(properties.messageId));
    return { connection, channel, returned };
  } catch (error) {
    await end(connection);
    throw error;
  }
}

/** Closes the connection. A broker without memory or disk reads nothing, not even the request to close. */
async function end(connection: ChannelModel): Promise<void> {
  try {
    await within(CLOSE_MS, 'the AMQP broker', connection.close());
  } catch (error) {
    // The client's types do not show its socket. An error on the socket also ends the client's heartbeats.
    (connection.connection as unknown as { stream: Duplex }).stream.destroy(error as Error);
  }
}

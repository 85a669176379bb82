import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import type { GetMessage } from 'amqplib';
import { AmqpSink } from '../../../src/push/sinks/amqp.js';
import { NO_RABBIT, RabbitServer } from '../../support/rabbit-server.js';
import { eventOf } from '../fakes.js';

const EVENTS = Array.from({ length: 100 }, (_, index) => eventOf(`player-${index % 7}`, index));
const EXCHANGE = 'wallets';
const QUEUE = 'crm';

let server: RabbitServer;

// One server for all tests, because a start takes ten seconds.
before(async () => {
  if (NO_RABBIT === false) server = await RabbitServer.start();
});
after(() => server?.destroy());

/** Declares the exchange with a new queue, and opens a sink. */
async function openSink(t: TestContext, queue: object = {}): Promise<AmqpSink> {
  await server.manage(async (connection) => {
    const channel = await connection.createChannel();
    await channel.deleteQueue(QUEUE);
    await channel.assertExchange(EXCHANGE, 'topic', { durable: true });
    await channel.assertQueue(QUEUE, { durable: true, ...queue });
    await channel.bindQueue(QUEUE, EXCHANGE, 'walletd.bet.*');
  });
  const sink = new AmqpSink(server.url, EXCHANGE);
  t.after(() => sink.close());
  return sink;
}

async function messagesOf(): Promise<GetMessage[]> {
  return await server.manage(async (connection) => {
    const channel = await connection.createChannel();
    const messages: GetMessage[] = [];
    for (;;) {
      const message = await channel.get(QUEUE, { noAck: true });
      if (message === false) return messages;
      messages.push(message);
    }
  });
}

test('an exchange gets persistent messages, even after the broker was killed', { skip: NO_RABBIT }, async (t) => {
  const sink = await openSink(t);
  await sink.send(EVENTS.slice(0, 50));
  await server.end();
  await assert.rejects(sink.send(EVENTS.slice(50)));
  await server.start();
  await sink.send(EVENTS.slice(50));
  const messages = await messagesOf();
  const events = messages.map(({ content }) => JSON.parse(content.toString()) as (typeof EVENTS)[number]);
  for (const { subject: player } of EVENTS.slice(0, 7)) {
    const isOfPlayer = ({ subject }: { subject: string }) => subject === player;
    assert.deepEqual(events.filter(isOfPlayer), EVENTS.filter(isOfPlayer));
  }
  for (const { properties, fields, content } of messages) {
    assert.equal(properties.messageId, JSON.parse(content.toString()).id);
    assert.deepEqual([properties.deliveryMode, fields.routingKey], [2, 'walletd.bet.placed']);
  }
});

test('a full queue, an unbound type and a missing exchange confirm nothing', { skip: NO_RABBIT }, async (t) => {
  const sink = await openSink(t, { arguments: { 'x-max-length': 5, 'x-overflow': 'reject-publish' } });
  await assert.rejects(sink.send(EVENTS.slice(0, 10)));
  await assert.rejects(
    sink.send([{ ...eventOf('anna', 1), type: 'walletd.tip.placed' }]),
    /no queue is bound to wallets/,
  );
  await server.manage(async (connection) => {
    await (await connection.createChannel()).deleteExchange(EXCHANGE);
  });
  await assert.rejects(sink.send(EVENTS.slice(0, 1)));
});

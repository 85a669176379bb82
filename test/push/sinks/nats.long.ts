import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { NatsSink } from '../../../src/push/sinks/nats.js';
import { NatsServer, NO_NATS } from '../../support/nats-server.js';
import { eventOf } from '../fakes.js';

const EVENTS = Array.from({ length: 100 }, (_, index) => eventOf(`player-${index % 7}`, index));
const STREAM = 'wallets';

async function startServer(t: TestContext, prefix: string, limits: object = {}) {
  const server = await NatsServer.start();
  const sink = new NatsSink(new URL(server.url), prefix);
  t.after(async () => {
    await sink.close();
    await server.destroy();
  });
  await server.manage((manager) => manager.streams.add({ name: STREAM, subjects: ['walletd.>', 'crm.>'], ...limits }));
  return { server, sink };
}

async function messagesOf(server: NatsServer): Promise<{ subject: string; event: (typeof EVENTS)[number] }[]> {
  return await server.manage(async ({ streams }) => {
    const { state } = await streams.info(STREAM);
    const messages = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const message = await streams.getMessage(STREAM, { seq });
      if (message !== null) messages.push({ subject: message.subject, event: message.json<(typeof EVENTS)[number]>() });
    }
    return messages;
  });
}

function ofPlayer(events: typeof EVENTS, player: string): string[] {
  return events.filter(({ subject }) => subject === player).map(({ id }) => id);
}

test('JetStream gets each event once, in order per player, although pages repeat', { skip: NO_NATS }, async (t) => {
  const { server, sink } = await startServer(t, 'crm');
  await sink.send(EVENTS.slice(0, 60));
  await sink.send(EVENTS);
  const messages = await messagesOf(server);
  assert.equal(messages.length, EVENTS.length);
  for (const { subject } of messages) assert.equal(subject, 'crm.walletd.bet.placed');
  for (const { subject: player } of EVENTS.slice(0, 7)) {
    const got = messages.map(({ event }) => event);
    assert.deepEqual(ofPlayer(got, player), ofPlayer(EVENTS, player));
  }
});

test('a nats-server that was killed gets the page again after its start', { skip: NO_NATS }, async (t) => {
  const { server, sink } = await startServer(t, '');
  await sink.send(EVENTS.slice(0, 10));
  await server.end();
  await assert.rejects(sink.send(EVENTS.slice(10)));
  await server.start();
  await sink.send(EVENTS.slice(10));
  assert.equal((await messagesOf(server)).length, EVENTS.length);
});

test('a stream that is full or missing does not confirm events', { skip: NO_NATS }, async (t) => {
  const { server, sink } = await startServer(t, '', { max_msgs: 5, discard: 'new' });
  await assert.rejects(sink.send(EVENTS.slice(0, 10)), /maximum messages exceeded/);
  await server.manage((manager) => manager.streams.delete(STREAM));
  await assert.rejects(sink.send(EVENTS.slice(0, 1)));
});

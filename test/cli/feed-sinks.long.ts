import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { FeedEvent } from '../../src/feed/event.js';
import { ConsumerBooks } from '../support/consumer-books.js';
import { freePort } from '../support/free-port.js';
import { NatsServer, NO_NATS } from '../support/nats-server.js';
import { NO_RABBIT, RabbitServer } from '../support/rabbit-server.js';
import { RedisServer } from '../support/redis-server.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { FeedScene } from './feed-scene.js';
import { endFeed, startFeed } from './start-feed.js';

const STREAM = 'wallets';
const PAGE_ENTRIES = 10_000;

/** Takes an event as JSON, in the order of delivery. */
type Take = (text: string) => void;

/** A receiver of events: the server of a sink, or the reader of its output. */
interface Receiver {
  /** Arguments of `walletd feed`. */
  readonly to: readonly string[];
  /** Kills the server and starts it again. */
  restart(): Promise<void>;
  /** Takes the events that the server keeps. */
  takeAll?(take: Take): Promise<void>;
}

async function toStdout(): Promise<Receiver> {
  return { to: ['stdout'], restart: async () => {} };
}

async function toWebhook(t: TestContext, take: Take): Promise<Receiver> {
  const folder = makeTempFolder();
  const secrets = join(folder.path, 'secrets');
  writeFileSync(secrets, `whsec_${randomBytes(32).toString('base64')}\n`);
  const port = await freePort();
  let server: Server;
  const start = () =>
    new Promise<void>((resolve) => {
      server = createServer(async (request, response) => {
        let body = '';
        for await (const part of request.setEncoding('utf8')) body += part;
        take(body);
        response.writeHead(204).end();
      });
      server.listen(port, '127.0.0.1', resolve);
    });
  const end = () =>
    new Promise<unknown>((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  await start();
  t.after(async () => {
    await end();
    folder.remove();
  });
  const files = ['--secret-file', secrets, '--dead-letters', join(folder.path, 'refused')];
  const restart = async () => {
    await end();
    await start();
  };
  return { to: [`webhook:http://127.0.0.1:${port}/hook`, ...files], restart };
}

async function toRedis(t: TestContext): Promise<Receiver> {
  const server = await RedisServer.start();
  t.after(() => server.destroy());
  const takeAll = async (take: Take) => {
    for (let after = '-'; ; ) {
      const answer = await server.call('XRANGE', STREAM, after, '+', 'COUNT', String(PAGE_ENTRIES));
      const items = answer as [id: string, fields: string[]][];
      for (const [, fields] of items) take(fields[5] as string);
      const last = items.at(-1);
      if (last === undefined) return;
      after = `(${last[0]}`;
    }
  };
  return { to: [`${server.url}#${STREAM}`], restart: () => restarted(server), takeAll };
}

async function toNats(t: TestContext): Promise<Receiver> {
  const server = await NatsServer.start();
  t.after(() => server.destroy());
  await server.manage((manager) => manager.streams.add({ name: STREAM, subjects: ['walletd.>'] }));
  const takeAll = (take: Take) =>
    server.manage(async ({ streams }) => {
      const { state } = await streams.info(STREAM);
      for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
        take((await streams.getMessage(STREAM, { seq }))?.string() ?? '');
      }
    });
  return { to: [server.url], restart: () => restarted(server), takeAll };
}

async function toAmqp(t: TestContext): Promise<Receiver> {
  const server = await RabbitServer.start();
  t.after(() => server.destroy());
  await server.manage(async (connection) => {
    const channel = await connection.createChannel();
    await channel.assertExchange(STREAM, 'topic', { durable: true });
    await channel.assertQueue(STREAM, { durable: true });
    await channel.bindQueue(STREAM, STREAM, 'walletd.#');
  });
  const takeAll = (take: Take) =>
    server.manage(async (connection) => {
      const channel = await connection.createChannel();
      for (;;) {
        const message = await channel.get(STREAM, { noAck: true });
        if (message === false) return;
        take(message.content.toString());
      }
    });
  return { to: [`${server.url}#${STREAM}`], restart: () => restarted(server), takeAll };
}

async function restarted(server: { end(): Promise<void>; start(): Promise<void> }): Promise<void> {
  await server.end();
  await server.start();
}

const SINKS: readonly [name: string, open: (t: TestContext, take: Take) => Promise<Receiver>, skip: string | false][] =
  [
    ['stdout', toStdout, false],
    ['a webhook', toWebhook, false],
    ['a Redis Stream', toRedis, false],
    ['NATS JetStream', toNats, NO_NATS],
    ['AMQP', toAmqp, NO_RABBIT],
  ];

for (const [name, open, skip] of SINKS) {
  test(`${name} gets every event in order despite kill -9 of feed, sink and server`, { skip }, async (t) => {
    const books = new ConsumerBooks();
    const take = (text: string) => books.take(JSON.parse(text) as FeedEvent);
    const scene = await FeedScene.start(t);
    const receiver = await open(t, take);
    const [to = '', ...options] = receiver.to;
    const args = ['--name', scene.feed, '--to', to, '--from', 'start', '--server', scene.adminUrl, ...options];
    const start = () => startFeed(args, {}, take);

    const first = start();
    await scene.goesOn('after the start');
    await endFeed(first, 'SIGKILL');
    const feed = start();
    await scene.goesOn('by the next process');
    await receiver.restart();
    await scene.goesOn('by the restarted sink');
    await scene.restartServer();
    await scene.goesOn('after the restart of the server');
    await scene.end();
    assert.deepEqual(await endFeed(feed, 'SIGTERM'), [0, null], feed.output.log);

    await receiver.takeAll?.(take);
    await scene.check(books, t);
  });
}

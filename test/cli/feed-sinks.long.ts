import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { FeedEvent } from '../../src/feed/event.js';
import { bet, importPlayers, PlatformClient } from '../support/client.js';
import { assertBooks, ConsumerBooks } from '../support/consumer-books.js';
import { freePort } from '../support/free-port.js';
import { NatsServer, NO_NATS } from '../support/nats-server.js';
import { NO_RABBIT, RabbitServer } from '../support/rabbit-server.js';
import { RedisServer } from '../support/redis-server.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { WalletdProcess } from '../support/walletd-process.js';
import { endFeed, type FeedProcess, startFeed } from './start-feed.js';

const PLAYERS = Array.from({ length: 8 }, (_, i) => `p${i}`);
const OPENING_BALANCE = 1000;
const PAUSE_MS = 5;
const NAME = 'crm';
const STREAM = 'wallets';

/** A receiver of events: the server of a sink, or the reader of its output. */
interface Receiver {
  /** Arguments of `walletd feed`. */
  readonly to: readonly string[];
  /** Kills the server and starts it again. */
  restart(): Promise<void>;
  /** Events in the order of their delivery, as JSON. `processes` are all feed processes so far. */
  events(processes: readonly FeedProcess[]): Promise<readonly string[]>;
}

async function toStdout(): Promise<Receiver> {
  // A killed process may end in the middle of a line.
  const linesOf = ({ output }: FeedProcess) => output.out.split('\n').slice(0, -1);
  return { to: ['stdout'], restart: async () => {}, events: async (processes) => processes.flatMap(linesOf) };
}

async function toWebhook(t: TestContext): Promise<Receiver> {
  const folder = makeTempFolder();
  const secrets = join(folder.path, 'secrets');
  writeFileSync(secrets, `whsec_${randomBytes(32).toString('base64')}\n`);
  const port = await freePort();
  const received: string[] = [];
  let server: Server;
  const start = () =>
    new Promise<void>((resolve) => {
      server = createServer(async (request, response) => {
        let body = '';
        for await (const part of request.setEncoding('utf8')) body += part;
        received.push(body);
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
  return { to: [`webhook:http://127.0.0.1:${port}/hook`, ...files], restart, events: async () => received };
}

async function toRedis(t: TestContext): Promise<Receiver> {
  const server = await RedisServer.start();
  t.after(() => server.destroy());
  const events = async () => {
    const items = (await server.call('XRANGE', STREAM, '-', '+')) as [id: string, fields: string[]][];
    return items.map(([, fields]) => fields[5] as string);
  };
  return { to: [`${server.url}#${STREAM}`], restart: () => restarted(server), events };
}

async function toNats(t: TestContext): Promise<Receiver> {
  const server = await NatsServer.start();
  t.after(() => server.destroy());
  await server.manage((manager) => manager.streams.add({ name: STREAM, subjects: ['walletd.>'] }));
  const events = () =>
    server.manage(async ({ streams }) => {
      const { state } = await streams.info(STREAM);
      const bodies: string[] = [];
      for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
        bodies.push((await streams.getMessage(STREAM, { seq }))?.string() ?? '');
      }
      return bodies;
    });
  return { to: [server.url], restart: () => restarted(server), events };
}

async function toAmqp(t: TestContext): Promise<Receiver> {
  const server = await RabbitServer.start();
  t.after(() => server.destroy());
  await server.manage(async (connection) => {
    const channel = await connection.createChannel();
    await channel.assertExchange(STREAM, 'topic', { durable: true });
    await channel.assertQueue(NAME, { durable: true });
    await channel.bindQueue(NAME, STREAM, 'walletd.#');
  });
  const events = () =>
    server.manage(async (connection) => {
      const channel = await connection.createChannel();
      const bodies: string[] = [];
      for (;;) {
        const message = await channel.get(NAME, { noAck: true });
        if (message === false) return bodies;
        bodies.push(message.content.toString());
      }
    });
  return { to: [`${server.url}#${STREAM}`], restart: () => restarted(server), events };
}

async function restarted(server: { end(): Promise<void>; start(): Promise<void> }): Promise<void> {
  await server.end();
  await server.start();
}

/** A platform that repeats each bet until the current server answers. */
class Load {
  readonly answered: string[] = [];
  private isOver = false;
  private readonly running: Promise<unknown>;

  constructor(private readonly server: () => WalletdProcess) {
    this.running = Promise.all(PLAYERS.map((player) => this.play(player)));
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.running;
  }

  private async play(player: string): Promise<void> {
    for (let i = 0; !this.isOver; i++) {
      const body = bet(player, `${player}-${i}`, 0.01);
      while (!(await this.isAnswered(body))) await delay(PAUSE_MS);
      this.answered.push(body.id);
      await delay(PAUSE_MS);
    }
  }

  private async isAnswered(body: ReturnType<typeof bet>): Promise<boolean> {
    const client = new PlatformClient(this.server().callbackUrl);
    try {
      const { statusCode } = await client.post('placeBets', body);
      return statusCode === 0;
    } catch {
      return false;
    } finally {
      client.close();
    }
  }
}

const SINKS: readonly [name: string, open: (t: TestContext) => Promise<Receiver>, skip: string | false][] = [
  ['stdout', toStdout, false],
  ['a webhook', toWebhook, false],
  ['a Redis Stream', toRedis, false],
  ['NATS JetStream', toNats, NO_NATS],
  ['AMQP', toAmqp, NO_RABBIT],
];

for (const [name, open, skip] of SINKS) {
  test(`${name} gets every event in order despite kill -9 of feed, sink and server`, { skip }, async (t) => {
    const folder = makeTempFolder();
    const env = {
      WALLETD_STORE: `lmdb:${folder.path}/data`,
      WALLETD_INIT: 'auto',
      WALLETD_SHARDS: '2',
      WALLETD_ADMIN_PORT: String(await freePort()),
    };
    let server = await WalletdProcess.start(env);
    t.after(async () => {
      await server.end('SIGKILL');
      folder.remove();
    });
    const receiver = await open(t);
    await importPlayers(server.adminUrl, PLAYERS, OPENING_BALANCE);
    const [to = '', ...options] = receiver.to;
    const args = ['--name', NAME, '--to', to, '--from', 'start', '--server', server.adminUrl, ...options];
    const processes = [startFeed(args)];
    const feed = () => processes.at(-1) as FeedProcess;
    const state = async () => {
      const response = await fetch(`${server.adminUrl}/v1/feeds/${NAME}`);
      return (await response.json()) as { position?: string; lag?: { entries: number } };
    };
    const goesOn = async (what: string) => {
      const { position } = await state();
      await until(`events are acknowledged ${what}`, async () => {
        const now = await state();
        return now.position !== undefined && now.position !== position;
      });
    };
    const load = new Load(() => server);

    await goesOn('after the start');
    await endFeed(feed(), 'SIGKILL');
    processes.push(startFeed(args));
    await goesOn('by the next process');
    await receiver.restart();
    await goesOn('by the restarted sink');
    await server.end('SIGKILL');
    server = await WalletdProcess.start(env);
    await goesOn('after the restart of the server');
    await load.stop();
    await until('the feed has no lag', async () => (await state()).lag?.entries === 0);
    assert.deepEqual(await endFeed(feed(), 'SIGTERM'), [0, null], feed().output.log);

    const books = new ConsumerBooks();
    for (const text of await receiver.events(processes)) books.take(JSON.parse(text) as FeedEvent);
    await assertBooks(books, { players: PLAYERS, requestIds: load.answered, adminUrl: server.adminUrl });
    t.diagnostic(`${books.count} events, ${books.repeats} deliveries of known ones`);
  });
}

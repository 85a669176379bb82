import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { WebSocket } from 'ws';
import { silentLogger } from '../../src/base/logger.js';
import { ConnectionCounts } from '../../src/listener/connection-counts.js';
import { EarlyListener } from '../../src/node/boot/early-listener.js';
import { HealthListener } from '../../src/node/boot/health-listener.js';
import { LINK_PATH } from '../../src/peer/encrypted-handshake.js';
import { SocketLinks } from '../../src/peer/socket-links.js';
import { balanceOf, bet, importPlayers, PlatformClient } from '../support/client.js';
import { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';

/** On Linux, every address in 127.0.0.0/8 is local. */
const LOOPBACKS = { skip: process.platform !== 'linux' };
const ROUNDS = 10;

/** Connects from many addresses and sends nothing. Each call reopens all connections. */
class Strangers {
  private readonly sockets: Socket[] = [];

  constructor(
    private readonly port: number,
    private readonly count: number,
  ) {}

  async come(): Promise<void> {
    const coming = Array.from({ length: this.count }, (_, n) => this.connect(`127.0.1.${1 + (n % 250)}`));
    await Promise.all(coming);
  }

  leave(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  private async connect(localAddress: string): Promise<void> {
    const socket = connect({ port: this.port, host: '127.0.0.1', localAddress });
    this.sockets.push(socket);
    socket.on('error', () => {});
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  }
}

/**
 * Runs a caller with persistent and new connections while strangers keep connecting. None of the caller's calls may
 * fail.
 */
async function fill(t: TestContext, url: string, count: number, path: string): Promise<void> {
  const strangers = new Strangers(Number(new URL(url).port), count);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => {
    strangers.leave();
    agent.destroy();
  });
  const call = (through: Agent | undefined) =>
    new Promise<number | undefined>((resolve, reject) => {
      const sent = request(url + path, { agent: through, localAddress: '127.0.0.1' }, (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode));
      });
      sent.once('error', reject);
      sent.end();
    });
  for (let round = 0; round < ROUNDS; round++) {
    await strangers.come();
    for (const through of [agent, undefined]) assert.equal(await call(through), 200);
  }
}

test('the callback listener serves a platform while strangers flood it', LOOPBACKS, async (t) => {
  const node = await TestNode.start({ 'limits.connectionsMax': 100 });
  t.after(() => node.close());
  await importPlayers(node.adminUrl, ['ann'], 1000);
  const strangers = new Strangers(Number(new URL(node.callbackUrl).port), 150);
  const kept = new PlatformClient(node.callbackUrl);
  t.after(() => {
    strangers.leave();
    kept.close();
  });
  for (let round = 0; round < ROUNDS; round++) {
    await strangers.come();
    const once = new PlatformClient(node.callbackUrl);
    for (const [n, client] of [kept, once].entries()) {
      assert.equal((await client.post('placeBets', bet('ann', `b${round}-${n}`))).statusCode, 0);
    }
    once.close();
  }
  assert.equal(await balanceOf(node.adminUrl, 'ann'), 1000 - 2 * ROUNDS);
  const metrics = await (await fetch(`${node.adminUrl}/metrics`)).text();
  assert.match(metrics, /walletd_connections_evicted_total\{listener="callbacks",reason="silent"\} [1-9]\d{2}/);
  assert.match(metrics, /walletd_connections_refused_total\{listener="callbacks",reason="full"\} 0\n/);
});

test("strangers outside allow.networks do not displace a platform's connections", LOOPBACKS, async (t) => {
  const node = await TestNode.start({ 'limits.connectionsMax': 3, 'allow.networks': '127.0.0.1' });
  t.after(() => node.close());
  await importPlayers(node.adminUrl, ['ann'], 1000);
  const client = new PlatformClient(node.callbackUrl);
  const strangers = new Strangers(Number(new URL(node.callbackUrl).port), 50);
  t.after(() => {
    client.close();
    strangers.leave();
  });
  for (let round = 0; round < ROUNDS; round++) {
    await strangers.come();
    assert.equal((await client.post('placeBets', bet('ann', `b${round}`))).statusCode, 0);
  }
  let metrics = '';
  // Wait, because Node accepts only one connection in each event-loop iteration.
  await until('all strangers are counted', async () => {
    metrics = await (await fetch(`${node.adminUrl}/metrics`)).text();
    return /walletd_connections_refused_total\{listener="callbacks",reason="address"\} 500\n/.test(metrics);
  });
  assert.match(metrics, /walletd_connections_evicted_total\{listener="callbacks",reason="silent"\} 0\n/);
});

test('evictions are safe when a connection has ended after a request', LOOPBACKS, async (t) => {
  const node = await TestNode.start({ 'limits.connectionsMax': 40 });
  t.after(() => node.close());
  await importPlayers(node.adminUrl, ['ann'], 10_000);
  const strangers = new Strangers(Number(new URL(node.callbackUrl).port), 20);
  t.after(() => strangers.leave());
  // Before strangers flood the listener, opens silent and active connections from the same addresses. Most of them end
  // immediately.
  for (let round = 0; round < 50; round++) {
    const client = new PlatformClient(node.callbackUrl);
    await Promise.all([strangers.come(), client.post('placeBets', bet('ann', `b${round}`)).then(() => client.close())]);
  }
  assert.equal(await balanceOf(node.adminUrl, 'ann'), 9950);
});

test('connections that end without a request are counted, and logged once', async (t) => {
  const node = await TestNode.start();
  t.after(() => node.close());
  for (let n = 0; n < 2; n++) {
    const socket = connect(Number(new URL(node.callbackUrl).port), '127.0.0.1');
    socket.write('POST /placeBets HTTP/1.0\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}');
    socket.resume();
    await once(socket, 'close');
  }
  const metrics = await (await fetch(`${node.adminUrl}/metrics`)).text();
  assert.match(metrics, /walletd_connections_unread_total 2\n/);
  const lines = node.logLines.filter(({ code }) => code === 'connection-unread');
  assert.equal(lines.length, 1);
  assert.match(String(lines[0]?.message), /HTTP\/1\.0/);
});

test('the operator API answers an operator while strangers flood it', LOOPBACKS, async (t) => {
  const node = await TestNode.start();
  t.after(() => node.close());
  await fill(t, node.adminUrl, 1100, '/livez');
});

test('the health listener answers a load balancer while strangers flood it', LOOPBACKS, async (t) => {
  const counts = new ConnectionCounts();
  const health = await HealthListener.openIfSet({ host: '127.0.0.1', port: 0 }, () => 'ready', counts);
  assert.ok(health);
  t.after(() => health.close());
  await fill(t, `http://127.0.0.1:${health.port}`, 1100, '/readyz');
  assert.equal(counts.refused.full, 0);
  assert.ok(counts.evicted.silent > 100, `${counts.evicted.silent}`);
});

test('the early listener answers a supervisor while strangers flood it', LOOPBACKS, async (t) => {
  const free = await HealthListener.openIfSet({ host: '127.0.0.1', port: 0 }, () => 'ready', new ConnectionCounts());
  const port = free?.port as number;
  await free?.close();
  const early = await EarlyListener.open({ host: '127.0.0.1', port }, undefined, new ConnectionCounts());
  t.after(() => early.close());
  await fill(t, `http://127.0.0.1:${port}`, 1100, '/livez');
});

/** Starts two members with links to each other. The first one's listener is open to strangers. */
async function twoMembers(t: TestContext) {
  const heard: string[] = [];
  const counts = new ConnectionCounts();
  const linksOf = (tag: string) =>
    new SocketLinks(
      { host: '127.0.0.1', port: 0 },
      {
        tag,
        secret: 'a-secret-of-all-nodes',
        storeId: 'store',
        tls: undefined,
        counts,
        log: silentLogger,
        events: {
          onMessage() {},
          onUp: (peer) => heard.push(`${tag} ${peer}`),
          onDown: (peer) => heard.push(`${tag} -${peer}`),
          onRefused() {},
        },
      },
    );
  const [a, b] = [linksOf('aaaaaaaa'), linksOf('bbbbbbbb')];
  const [port] = [await a.listen(), await b.listen()];
  t.after(() => Promise.all([a.close(), b.close()]));
  a.keep(new Map([['bbbbbbbb', { host: '127.0.0.1', port: 1 }]]));
  const join = async () => {
    b.keep(new Map([['aaaaaaaa', { host: '127.0.0.1', port }]]));
    await until('the link is up', () => a.isUp('bbbbbbbb') && b.isUp('aaaaaaaa'));
  };
  return { a, b, port, heard, counts, join };
}

test('a member connects while strangers flood the listener for nodes', LOOPBACKS, async (t) => {
  const { a, b, port, heard, counts, join } = await twoMembers(t);
  const strangers = new Strangers(port, 100);
  t.after(() => strangers.leave());
  await strangers.come();
  await join();
  for (let round = 0; round < ROUNDS; round++) await strangers.come();
  assert.ok(a.isUp('bbbbbbbb') && b.isUp('aaaaaaaa'), 'a link is no stranger');
  assert.deepEqual(
    heard.filter((one) => one.includes('-')),
    [],
  );
  assert.ok(counts.evicted.silent > 500, `${counts.evicted.silent}`);
});

test('a member reconnects repeatedly while 64 strangers dial', LOOPBACKS, async (t) => {
  const { a, b, port, counts, join } = await twoMembers(t);
  let isOver = false;
  t.after(() => {
    isOver = true;
  });
  const dial = (n: number) => {
    const stranger = new WebSocket(`ws://127.0.0.1:${port}${LINK_PATH}`, { localAddress: `127.0.1.${1 + (n % 3)}` });
    // Half of the strangers send an invalid hello; the others send nothing.
    stranger.on('open', () => n % 2 === 0 && stranger.send(Buffer.alloc(200, 2)));
    stranger.on('error', () => {});
    stranger.on('close', () => isOver || dial(n));
  };
  for (let n = 0; n < 64; n++) dial(n);
  await until('they are all here', () => counts.accepted >= 64);
  for (let round = 0; round < ROUNDS; round++) {
    await join();
    b.keep(new Map());
    await until('the link is down', () => !a.isUp('bbbbbbbb') && !b.isUp('aaaaaaaa'));
  }
});

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { freePort } from '../../bench/support/free-port.js';
import type { FeedEvent } from '../../src/feed/event.js';
import { eventOf } from '../push/fakes.js';
import { endAfterTests } from '../support/children.js';
import { balanceOf, importPlayers } from '../support/client.js';
import { FakeFeedServer } from '../support/fake-feed-server.js';
import { RedisServer } from '../support/redis-server.js';
import { runCommand } from '../support/run-command.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { environment, UNLAUNCHED, WalletdProcess } from '../support/walletd-process.js';
import { PLAYERS, play } from './served-store.js';

const EVENTS = Array.from({ length: 1200 }, (_, index) => eventOf(`player-${index % 7}`, index));

async function startServer(t: TestContext): Promise<FakeFeedServer> {
  const server = await FakeFeedServer.start();
  t.after(() => server.close());
  server.events.push(...EVENTS);
  return server;
}

function startFeed(args: readonly string[], env: Record<string, string> = {}) {
  const [command = '', ...first] = UNLAUNCHED;
  const child = endAfterTests(
    spawn(command, [...first, 'feed', ...args], { env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] }),
  );
  const output = { out: '', log: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.log += text;
  });
  return { child, output };
}

test('feed writes events to stdout, its log to stderr, and ends with SIGTERM', async (t) => {
  const server = await startServer(t);
  const { child, output } = startFeed(['--name', 'warehouse', '--to', 'stdout', '--server', server.url]);
  await until('all events are acknowledged', () => server.acknowledged === EVENTS.length);
  child.kill('SIGTERM');
  const [code] = await once(child, 'close');
  assert.equal(code, 0, output.log);
  assert.deepEqual(
    output.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
    EVENTS,
  );
  assert.deepEqual(server.definitions, [{ name: 'warehouse', from: 'now' }]);
  assert.match(output.log, /"msg":"feed begun"[\s\S]*"events":1200,"msg":"feed ended"/);
});

test('feed waits for a Redis that is away, and then delivers every event', async (t) => {
  const server = await startServer(t);
  const redis = await RedisServer.start();
  t.after(() => redis.destroy());
  await redis.end();
  const sink = { CRM_SINK: `${redis.url}#wallets` };
  const { child, output } = startFeed(['--name', 'crm', '--to', 'env:CRM_SINK', '--server', server.url], sink);
  await until('the feed says that the sink is away', () => output.log.includes('feed-sink-away'));
  assert.equal(server.acknowledged, 0);
  await redis.start();
  await until('all events are acknowledged', () => server.acknowledged === EVENTS.length);
  assert.equal(await redis.call('XLEN', 'wallets'), EVENTS.length);
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'close'), [0, null]);
  assert.equal(output.log.match(/feed-sink-away/g)?.length, 1);
});

test('feed ends with exit code 2 when the feed is deleted', async (t) => {
  const server = await startServer(t);
  const { child, output } = startFeed(['--name', 'crm', '--to', 'stdout', '--server', server.url]);
  await until('all events are acknowledged', () => server.acknowledged === EVENTS.length);
  server.refusal = 404;
  const [code] = await once(child, 'close');
  assert.equal(code, 2, output.log);
  assert.match(output.log, /the feed crm was deleted/);
  assert.equal(server.definitions.length, 1);
});

test('feed replays a file of dead letters and ends', async (t) => {
  const folder = makeTempFolder();
  t.after(() => folder.remove());
  const file = join(folder.path, 'refused');
  const text = EVENTS.map((event) => `${JSON.stringify(event)}\n`).join('');
  writeFileSync(file, text);
  const { child, output } = startFeed(['--to', 'stdout', '--replay', file]);
  assert.deepEqual(await once(child, 'close'), [0, null], output.log);
  assert.equal(output.out, text);
  assert.equal(readFileSync(file, 'utf8'), text);
  writeFileSync(file, 'nonsense\n');
  const wrong = startFeed(['--to', 'stdout', '--replay', file]);
  assert.deepEqual(await once(wrong.child, 'close'), [1, null]);
  assert.match(wrong.output.log, /refused: line 1 is not an event/);
  const missing = startFeed(['--to', 'stdout', '--replay', join(folder.path, 'missing')]);
  assert.deepEqual(await once(missing.child, 'close'), [1, null]);
  assert.match(missing.output.log, /walletd: the events to replay cannot be read: ENOENT/);
});

test('feed refuses wrong arguments with a sentence that shows no password', async () => {
  const hook = 'webhook:https://crm.example/hook';
  const rows: [args: string[], sentence: RegExp][] = [
    [['--to', 'stdout'], /--name must name the feed/],
    [['--to', 'env:UNSET_SINK', '--name', 'crm'], /the variable UNSET_SINK is not set/],
    [['--to', 'redis://:secret@redis.example', '--name', 'crm'], /must end with # and the name of the stream/],
    [['--to', hook, '--name', 'crm'], /a webhook needs --secret-file and --dead-letters/],
    [['--to', hook, '--dead-letters', 'a', '--replay', 'a'], /must name different files/],
    [['--to', 'stdout', '--name', 'crm', '--replay', 'a'], /--replay needs no --name/],
  ];
  for (const [args, sentence] of rows) {
    const { status, stderr } = await runCommand(['feed', ...args]);
    assert.equal(status, 2, args.join(' '));
    assert.match(stderr, sentence);
    assert.doesNotMatch(stderr, /secret@/);
  }
});

/** Lines of a text that ends with the line break of a line, or in the middle of one. */
function wholeLines(text: string): string[] {
  return text.split('\n').slice(0, -1);
}

test('feed pushes every acknowledged event despite kill -9 of server and feed', async (t) => {
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
  const args = ['--name', 'crm', '--to', 'stdout', '--from', 'start', '--server', server.adminUrl];
  let feed = startFeed(args);
  await importPlayers(server.adminUrl, PLAYERS, 100);
  await play(server, 'first', 5);
  // Kill the feed at any point of its first pages.
  await until('the feed has written', () => feed.output.out !== '');
  feed.child.kill('SIGKILL');
  await once(feed.child, 'close');
  let written = wholeLines(feed.output.out)
    .map((line) => `${line}\n`)
    .join('');
  feed = startFeed(args);
  await play(server, 'second', 5);
  await server.end('SIGKILL');
  server = await WalletdProcess.start(env);
  await play(server, 'third', 5);
  // Each player has a creation, and a bet and a settlement in 15 rounds.
  const eventsOf = (text: string) => wholeLines(text).map((line) => JSON.parse(line) as FeedEvent);
  const distinct = () => new Map(eventsOf(`${written}${feed.output.out}`).map((event) => [event.id, event]));
  await until('every event has come', () => distinct().size === PLAYERS.length * 31);
  feed.child.kill('SIGTERM');
  assert.deepEqual(await once(feed.child, 'close'), [0, null], feed.output.log);
  written += feed.output.out;
  const events = [...new Map(eventsOf(written).map((event) => [event.id, event])).values()];
  for (const player of PLAYERS) {
    let balance = '0';
    for (const { data } of events.filter(({ subject }) => subject === player)) {
      if (data.balanceBefore !== null) assert.equal(Number(data.balanceBefore), Number(balance), player);
      balance = data.balanceAfter ?? balance;
    }
    assert.equal(Number(balance), await balanceOf(server.adminUrl, player), player);
  }
});

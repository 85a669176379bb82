import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventOf } from '../push/fakes.js';
import { FakeFeedServer } from '../support/fake-feed-server.js';
import { RedisServer } from '../support/redis-server.js';
import { runCommand } from '../support/run-command.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { startFeed } from './start-feed.js';

const EVENTS = Array.from({ length: 1200 }, (_, index) => eventOf(`player-${index % 7}`, index));

async function startServer(t: TestContext): Promise<FakeFeedServer> {
  const server = await FakeFeedServer.start();
  t.after(() => server.close());
  server.events.push(...EVENTS);
  return server;
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
  server.refusalCode = 'feed-not-found';
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

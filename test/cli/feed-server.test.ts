import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { UserError } from '../../src/base/user-error.js';
import { FeedServer } from '../../src/cli/feed-server.js';
import { ConfigError } from '../../src/config/config-error.js';
import { OperatorApi } from '../../src/tools/verify/operator-api.js';
import { eventOf } from '../push/fakes.js';
import { FakeFeedServer } from '../support/fake-feed-server.js';

async function startFeed(t: TestContext) {
  const server = await FakeFeedServer.start();
  t.after(() => server.close());
  const stopping = new AbortController();
  const definition = { name: 'crm', filter: { types: ['walletd.bet.placed'] }, from: 'start' };
  const feed = new FeedServer(new OperatorApi(server.url, null), definition, 2, stopping.signal);
  return { server, feed, stopping };
}

test('a feed is created with its definition, pulled in pages and acknowledged', async (t) => {
  const { server, feed } = await startFeed(t);
  const events = [1, 2, 3].map((index) => eventOf('anna', index));
  server.events.push(...events);
  await feed.open();
  assert.deepEqual(server.definitions, [{ name: 'crm', filter: { types: ['walletd.bet.placed'] }, from: 'start' }]);
  assert.deepEqual(await feed.pull(), { events: events.slice(0, 2), next: '2' });
  await feed.acknowledge('2');
  assert.deepEqual(await feed.pull(), { events: events.slice(2), next: '3' });
  await feed.acknowledge('3');
  assert.equal(server.acknowledged, 3);
});

test('a refusal that can end is repeated, and any other ends the feed', async (t) => {
  const { server, feed } = await startFeed(t);
  for (const status of [401, 429, 503]) {
    server.refusal = status;
    await assert.rejects(feed.pull(), (error) => !(error instanceof UserError), String(status));
  }
  for (const status of [400, 403]) {
    server.refusal = status;
    await assert.rejects(feed.pull(), UserError, String(status));
  }
  server.refusal = 409;
  await assert.rejects(feed.open(), ConfigError);
  server.close();
  await assert.rejects(feed.pull(), (error) => !(error instanceof UserError));
});

test('a feed that was deleted ends its process for good', async (t) => {
  const { server, feed } = await startFeed(t);
  await feed.open();
  server.refusal = 404;
  // A proxy or a server of before answers 404, too.
  await assert.rejects(feed.pull(), (error) => error instanceof UserError && !(error instanceof ConfigError));
  server.refusalCode = 'feed-not-found';
  const deleted = (error: unknown) => error instanceof ConfigError && /crm was deleted/.test(error.message);
  await assert.rejects(feed.pull(), deleted);
  await assert.rejects(feed.acknowledge('2'), deleted);
});

test('a stop ends a pull that waits for events', async (t) => {
  const { feed, stopping } = await startFeed(t);
  const pulling = feed.pull();
  stopping.abort();
  await assert.rejects(pulling);
});

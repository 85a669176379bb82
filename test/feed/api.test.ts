import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FeedEvent } from '../../src/feed/event.js';
import { bet, PlatformClient, settlement } from '../support/client.js';
import { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';
import { withNode } from '../support/with-node.js';
import { linesUntil } from './lines-until.js';

interface Answer {
  readonly status: number;
  readonly body: {
    readonly events: readonly FeedEvent[];
    readonly next: string;
    readonly position: string;
    readonly code: string;
    readonly feeds: readonly { readonly name: string; readonly lag: { readonly entries: number } }[];
    readonly lag: { readonly entries: number; readonly bytes: number; readonly millis: number };
  };
}

async function call(node: TestNode, method: string, path: string, body?: object, token?: string): Promise<Answer> {
  const response = await fetch(`${node.adminUrl}/v1/feeds${path}`, {
    method,
    headers: {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

describe('the feed of the operator API', () => {
  test('a consumer reads each event once across a restart of the node', async () => {
    await withNode({}, async (node) => {
      const create = { name: 'crm', from: 'start' };
      assert.equal((await call(node, 'POST', '', create)).status, 201);
      assert.equal((await call(node, 'POST', '', create)).status, 200);
      const platform = new PlatformClient(node.callbackUrl);
      await platform.post('placeBets', bet('ann', 'b1', 10));
      platform.close();
      const page = await call(node, 'GET', '/crm/events');
      assert.deepEqual(
        page.body.events.map(({ type, data }) => [type, data.amount, data.balanceAfter]),
        [
          ['walletd.player.created', '100', '100'],
          ['walletd.bet.placed', '10', '90'],
        ],
      );
      assert.equal((await call(node, 'POST', '/crm/ack', { position: page.body.next })).status, 200);
      await node.restart();
      const after = new PlatformClient(node.callbackUrl);
      await after.post('settleBets', settlement('ann', 'b1', 25.5));
      after.close();
      const later = await call(node, 'GET', '/crm/events?wait=20');
      assert.deepEqual(
        later.body.events.map(({ type, data }) => [type, data.requestId, data.balanceAfter]),
        [['walletd.bet.settled', 's-b1', '115.5']],
      );
    });
  });

  test('a waiting read gets an event that happens meanwhile', async () => {
    await withNode({}, async (node) => {
      await call(node, 'POST', '', { name: 'crm' });
      await call(node, 'GET', '/crm/events');
      const waiting = call(node, 'GET', '/crm/events?wait=20');
      const platform = new PlatformClient(node.callbackUrl);
      await platform.post('placeBets', bet('ann', 'b1', 10));
      platform.close();
      assert.deepEqual(
        (await waiting).body.events.map(({ id }) => id.split('-').length),
        [4],
      );
    });
  });

  test('the lag of a feed counts what is not acknowledged', async () => {
    await withNode({}, async (node) => {
      await call(node, 'POST', '', { name: 'crm', from: 'now' });
      const platform = new PlatformClient(node.callbackUrl);
      await platform.post('placeBets', bet('ann', 'b1', 10));
      platform.close();
      const { lag } = (await call(node, 'GET', '/crm')).body;
      assert.ok(lag.entries > 0 && lag.bytes > 0, JSON.stringify(lag));
      const { next } = (await call(node, 'GET', '/crm/events')).body;
      await call(node, 'POST', '/crm/ack', { position: next });
      const [feed] = (await call(node, 'GET', '')).body.feeds;
      assert.deepEqual([feed?.name, feed?.lag], ['crm', { entries: 0, bytes: 0, millis: 0 }]);
    });
  });

  test('refusals name their reason', async () => {
    await withNode({}, async (node) => {
      const refused = async (method: string, path: string, body?: object) => {
        const answer = await call(node, method, path, body);
        return [answer.status, answer.body.code];
      };
      await call(node, 'POST', '', { name: 'crm' });
      assert.deepEqual(await refused('POST', '', { name: 'crm', from: 'start' }), [409, 'feed-differs']);
      assert.deepEqual(await refused('POST', '', { name: '../crm' }), [400, 'bad-request']);
      assert.deepEqual(await refused('POST', '', { name: 'x', filter: { type: [] } }), [400, 'bad-request']);
      assert.deepEqual(await refused('POST', '', { name: 'x', filter: { types: ['walletd.x'] } }), [
        400,
        'bad-request',
      ]);
      for (const path of ['/other', '/other/events']) {
        assert.deepEqual(await refused('GET', path), [404, 'feed-not-found']);
      }
      assert.deepEqual(await refused('GET', '/crm/events?limit=1001'), [400, 'bad-request']);
      assert.deepEqual(await refused('GET', '/crm/events?after=x'), [400, 'bad-request']);
      assert.deepEqual(await refused('POST', '/crm/ack', { position: 'x' }), [400, 'bad-request']);
      assert.equal((await call(node, 'DELETE', '/crm')).status, 200);
      assert.deepEqual(await refused('DELETE', '/crm'), [404, 'feed-not-found']);
    });
  });

  test('the role read reads events, and only operate creates and acknowledges', async () => {
    const tokens = { reader: 'a-token-of-the-reader', monitor: 'a-token-of-the-monitor', op: 'a-token-of-operators' };
    const node = await TestNode.start({
      'admin.tokens': [
        { name: 'reader', role: 'read', token: tokens.reader },
        { name: 'monitor', role: 'monitor', token: tokens.monitor },
        { name: 'op', role: 'operate', token: tokens.op },
      ],
    });
    try {
      const status = async (token: string, method: string, path: string, body?: object) =>
        (await call(node, method, path, body, token)).status;
      assert.equal(await status(tokens.reader, 'POST', '', { name: 'crm' }), 403);
      assert.equal(await status(tokens.op, 'POST', '', { name: 'crm' }), 201);
      assert.equal(await status(tokens.reader, 'GET', '/crm/events'), 200);
      assert.equal(await status(tokens.monitor, 'GET', '/crm/events'), 403);
      assert.equal(await status(tokens.reader, 'POST', '/crm/ack', { position: 'x' }), 403);
      assert.equal(await status(tokens.reader, 'DELETE', '/crm'), 403);
    } finally {
      await node.close();
    }
  });

  test('a stream sends pages, from the position after the previous page', async () => {
    await withNode({}, async (node) => {
      await call(node, 'POST', '', { name: 'crm' });
      const stream = await fetch(`${node.adminUrl}/v1/feeds/crm/stream?limit=1`);
      assert.equal(stream.headers.get('content-type'), 'application/x-ndjson');
      const pagesOf = (lines: readonly string[]) => lines.map((line) => JSON.parse(line) as Answer['body']);
      const withEvents = (lines: readonly string[]) => pagesOf(lines).filter(({ events }) => events.length > 0);
      const lines = linesUntil(stream, (lines) => withEvents(lines).length === 2);
      const platform = new PlatformClient(node.callbackUrl);
      for (const id of ['b1', 'b2']) await platform.post('placeBets', bet('ann', id, 10));
      platform.close();
      const pages = withEvents(await lines);
      const ids = pages.flatMap(({ events }) => events.map(({ data }) => data.transactionId));
      assert.deepEqual(ids, ['b1', 'b2']);
      const [first] = pages as [Answer['body']];
      const later = await call(node, 'GET', `/crm/events?after=${first.next}&limit=1`);
      assert.deepEqual(later.body.events[0]?.data.transactionId, 'b2');
    });
  });

  test('a stream of an unknown feed is refused with a status', async () => {
    await withNode({}, async (node) => {
      const answer = await call(node, 'GET', '/other/stream');
      assert.deepEqual([answer.status, answer.body.code], [404, 'feed-not-found']);
    });
  });

  test('the number of streams is limited, and a closed stream makes room', async () => {
    await withNode({}, async (node) => {
      await call(node, 'POST', '', { name: 'crm' });
      const open = async (signal: AbortSignal) => {
        const stream = await fetch(`${node.adminUrl}/v1/feeds/crm/stream`, { signal });
        if (stream.status !== 200) await stream.body?.cancel();
        return stream.status;
      };
      const stop = new AbortController();
      const statuses = await Promise.all(Array.from({ length: 16 }, () => open(stop.signal)));
      assert.ok(statuses.every((status) => status === 200));
      const other = new AbortController();
      assert.equal(await open(other.signal), 503);
      stop.abort();
      await until('a stream can be opened', async () => (await open(other.signal)) === 200);
      other.abort();
    });
  });

  test('the last line of a stream says why it ended', async () => {
    await withNode({}, async (node) => {
      await call(node, 'POST', '', { name: 'crm' });
      const stream = await fetch(`${node.adminUrl}/v1/feeds/crm/stream`);
      await call(node, 'DELETE', '/crm');
      // An event ends the wait of the read that began before.
      const platform = new PlatformClient(node.callbackUrl);
      await platform.post('placeBets', bet('ann', 'b1', 10));
      platform.close();
      const lines = (await stream.text()).trimEnd().split('\n');
      assert.equal(JSON.parse(lines.at(-1) as string).code, 'feed-not-found');
    });
  });

  test('a shutdown ends a waiting read', async () => {
    await withNode({}, async (node) => {
      await call(node, 'POST', '', { name: 'crm' });
      await call(node, 'GET', '/crm/events');
      const waiting = call(node, 'GET', '/crm/events?wait=20').catch(() => undefined);
      await node.restart();
      await waiting;
    });
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RedisStreamSink } from '../../../src/push/sinks/redis-stream.js';
import { RedisServer } from '../../support/redis-server.js';
import { eventOf } from '../fakes.js';

const STREAM = 'wallets';
const EVENTS = [1, 2, 3].map((index) => eventOf('anna', index));

type Item = [id: string, fields: string[]];

async function itemsOf(server: RedisServer): Promise<string[][]> {
  return ((await server.call('XRANGE', STREAM, '-', '+')) as Item[]).map(([, fields]) => fields);
}

const expected = EVENTS.map((event) => ['id', event.id, 'type', event.type, 'data', JSON.stringify(event)]);

test('a Redis Stream gets each event with the fields id, type and data', async () => {
  const server = await RedisServer.start();
  const sink = new RedisStreamSink(server.url, STREAM, undefined);
  try {
    await sink.send(EVENTS);
    assert.deepEqual(await itemsOf(server), expected);
  } finally {
    await sink.close();
    await server.destroy();
  }
});

test('a Redis that was restarted gets the next events on a new connection', async () => {
  const server = await RedisServer.start();
  const sink = new RedisStreamSink(server.url, STREAM, undefined);
  try {
    await sink.send(EVENTS.slice(0, 1));
    await server.end();
    await assert.rejects(sink.send(EVENTS.slice(1)));
    await server.start();
    await sink.send(EVENTS.slice(1));
    assert.deepEqual(await itemsOf(server), expected);
  } finally {
    await sink.close();
    await server.destroy();
  }
});

test('a Redis that is full takes all events of a page or none', async () => {
  const server = await RedisServer.start();
  const sink = new RedisStreamSink(server.url, STREAM, undefined);
  try {
    await server.call('CONFIG', 'SET', 'maxmemory', '1');
    await assert.rejects(sink.send(EVENTS), /OOM|EXECABORT/);
    assert.deepEqual(await itemsOf(server), []);
    await server.call('CONFIG', 'SET', 'maxmemory', '0');
    await sink.send(EVENTS);
    assert.deepEqual(await itemsOf(server), expected);
  } finally {
    await sink.close();
    await server.destroy();
  }
});

test('a stream keeps about as many events as its bound', async () => {
  const server = await RedisServer.start();
  const sink = new RedisStreamSink(server.url, STREAM, 100);
  try {
    for (let page = 0; page < 10; page++) {
      await sink.send(Array.from({ length: 100 }, (_, index) => eventOf('anna', page * 100 + index)));
    }
    // Redis deletes whole nodes of 100 items.
    const { length } = await itemsOf(server);
    assert.ok(length >= 100 && length <= 200, String(length));
  } finally {
    await sink.close();
    await server.destroy();
  }
});

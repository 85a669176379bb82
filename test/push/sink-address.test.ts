import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSinkAddress } from '../../src/push/sink-address.js';

test('the name of a sink shows neither password nor parameters', () => {
  const names = [
    'webhook:https://user:secret@crm.example/hook?token=secret',
    'rediss://user:secret@redis.example:6380/1#wallets',
    'tls://user:secret@nats.example:4222',
    'amqp://user:secret@rabbit.example/games?heartbeat=5#wallets',
  ].map((text) => parseSinkAddress(text).name);
  assert.deepEqual(names, [
    'https://crm.example/hook',
    'rediss://redis.example:6380/1#wallets',
    'tls://nats.example:4222',
    'amqp://rabbit.example/games#wallets',
  ]);
});

test('the name of a stream is not a part of the address of its Redis', () => {
  const address = parseSinkAddress('redis://:p%40ss@redis.example/2#wallet%20events');
  assert.deepEqual(address, {
    kind: 'redis',
    name: 'redis://redis.example/2#wallet%20events',
    url: 'redis://:p%40ss@redis.example/2',
    place: 'wallet events',
  });
});

test('a webhook needs TLS, except to the same machine', () => {
  assert.throws(() => parseSinkAddress('webhook:http://crm.example/hook'), /must use https/);
  for (const host of ['localhost:8080', '127.0.0.1', '[::1]:80']) parseSinkAddress(`webhook:http://${host}/`);
});

test('other addresses are refused with a sentence', () => {
  for (const text of [
    '',
    'stdin',
    'https://crm.example',
    'redis://redis.example',
    'amqp://rabbit.example',
    'webhook:crm',
  ]) {
    assert.throws(() => parseSinkAddress(text), /^Error: (it|a webhook) /, text);
  }
});

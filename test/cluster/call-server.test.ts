import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CallServer } from '../../src/cluster/call-server.js';
import type { PeerMessage } from '../../src/cluster/peer-protocol.js';
import { MOVED, UPGRADING } from '../../src/ports/request.js';
import type { WireRequest } from '../../src/threads/protocol.js';
import type { Endpoint } from '../../src/wallet/command.js';

test("a callback for a newer node's endpoint is answered, not thrown", async () => {
  const sent: PeerMessage[] = [];
  const seen: string[] = [];
  const server = new CallServer(
    {
      carryOut: ({ endpoint }, replier) => {
        seen.push(endpoint);
        replier.reply({ answer: MOVED, body: '' });
      },
      execute: () => assert.fail('there are no commands'),
      ask: () => assert.fail('there are no queries'),
    },
    { send: (_tag, message) => sent.push(message) > 0 },
  );
  const endpoints = ['placeBets', 'foreseeBets', 'constructor'] as unknown as Endpoint[];
  server.carryOut('a', { firstId: 7, endpoints, texts: ['', '', ''], deadlinesMs: [1, 1, 1], traced: [] });
  await nextTurn();
  assert.deepEqual(seen, ['placeBets']);
  const answers = sent.flatMap((message) =>
    message.type === 'replies' ? message.replies.ids.map((id, i) => [id, message.replies.failures[i]]) : [],
  );
  assert.deepEqual(
    answers.sort(([a], [b]) => Number(a) - Number(b)),
    [
      [7, 'moved'],
      [8, 'upgrading'],
      [9, 'upgrading'],
    ],
  );
});

test("a newer node's request type is refused before it reaches a shard", async () => {
  const sent: PeerMessage[] = [];
  const seen: string[] = [];
  const server = new CallServer(
    {
      carryOut: () => assert.fail('there are no callbacks'),
      execute: (_shard, { type }, _deadlineMs, replier) => {
        seen.push(type);
        replier.reply(MOVED);
      },
      ask: (_shard, { type }, _deadlineMs, replier) => {
        seen.push(type);
        replier.reply(MOVED);
      },
    },
    { send: (_tag, message) => sent.push(message) > 0 },
  );
  const about = { shard: 0, deadlineMs: 1000 };
  server.answer('a', [
    { ...about, id: 1, query: { type: 'read-player', username: 'ann' } },
    { ...about, id: 2, query: { type: 'foresee-player', username: 'ann' } },
    { ...about, id: 3, command: { type: 'block-player', username: 'ann' } },
    { ...about, id: 4, command: { type: 'reward-player', username: 'ann' } },
  ] as unknown as WireRequest[]);
  await nextTurn();
  assert.deepEqual(seen, ['read-player', 'block-player']);
  const answers = sent.flatMap((message) =>
    message.type === 'results' ? message.ids.map((id, i) => [id, message.results[i]]) : [],
  );
  assert.deepEqual(
    answers.sort(([a], [b]) => Number(a) - Number(b)),
    [
      [1, MOVED],
      [2, UPGRADING],
      [3, MOVED],
      [4, UPGRADING],
    ],
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CallServer } from '../../src/cluster/call-server.js';
import type { PeerMessage } from '../../src/cluster/peer-protocol.js';
import { MOVED, UPGRADING } from '../../src/shard/request.js';
import type { WireRequest } from '../../src/worker/protocol.js';

test('a request type of a newer node is refused before any shard sees it', async () => {
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

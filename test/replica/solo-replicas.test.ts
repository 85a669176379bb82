import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShardState } from '../../src/engine/shard.js';
import { SoloReplicas } from '../../src/replica/solo-replicas.js';
import { VirtualTime } from '../simulation/virtual-time.js';

test('a node without a cluster explains its shards since the first look', async () => {
  const time = new VirtualTime();
  let state: ShardState = 'starting';
  let reason: string | undefined;
  const status = () => [
    {
      shard: 0,
      state,
      reason,
      players: 0,
      waiting: 0,
      head: undefined,
      timeMs: 0,
      pendingAppendMs: 0,
      lacksNames: false,
    },
  ];
  const solo = new SoloReplicas(status, { now: () => time.wallMs(), monotonicMs: () => time.nowMs });
  const sentence = () => solo.explanations[0]?.sentence;
  assert.equal(sentence(), 'shard 0 has been recovering for 0.0 s; waits for its recovery from the log');
  await time.pass(2000);
  state = 'serving';
  solo.tick();
  await time.pass(3000);
  assert.equal(sentence(), 'shard 0 has been serving for 3.0 s');
  state = 'stopped';
  reason = 'entry 1-4 is damaged';
  assert.equal(
    sentence(),
    'shard 0 has been stopped for 0.0 s; waits for an operator who repairs the log; problem: entry 1-4 is damaged',
  );
});

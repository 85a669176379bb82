import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newClusterShards } from '../../src/cluster/cluster-shard.js';
import { MoveHistory } from '../../src/cluster/move-history.js';
import type { Claim, MemberRecord, Plan, RegistryView } from '../../src/ports/table.js';

const members = new Map(['a', 'b'].map((tag) => [tag, { name: `node-${tag}` } as MemberRecord]));
const plan = (owners: readonly string[], why = 'the first assignment', by = 'node-a'): Plan => ({
  owners,
  followers: [],
  pinned: [],
  archiveId: undefined,
  format: 1,
  why,
  by,
});
const view = (of: Plan | undefined, claims: readonly (readonly [number, Claim])[]): RegistryView => ({
  version: '',
  members,
  drained: new Set(),
  plan: of,
  claims: new Map(claims),
});

test('moves after the start have an author, a reason and a duration', () => {
  const history = new MoveHistory(newClusterShards(2, 0));
  const first = plan(['a', 'b']);
  const held = [
    [0, { epoch: 1, tag: 'a' }],
    [1, { epoch: 1, tag: 'b' }],
  ] as const;
  history.note(view(first, held), 1000);
  assert.equal(history.all.length, 0);
  const moved = plan(['b', 'b'], 'shard 0 was moved by an operator', 'anna');
  history.note(view(moved, held), 2000);
  // First one member releases the shard, and then another one takes it.
  history.note(view(moved, [[0, { epoch: 1, tag: '' }], held[1]]), 2300);
  assert.equal(history.all.length, 0);
  const taken = view(moved, [[0, { epoch: 2, tag: 'b' }], held[1]]);
  history.note(taken, 2500);
  history.note(taken, 2700);
  assert.deepEqual(history.all, [
    {
      shard: 0,
      from: 'node-a',
      to: 'node-b',
      epoch: 2,
      timeMs: 2500,
      tookMs: 500,
      why: 'shard 0 was moved by an operator',
      by: 'anna',
    },
  ]);
});

test('a retaken shard has not moved, and an unplanned move has no reason', () => {
  const history = new MoveHistory(newClusterShards(2, 0));
  history.note(view(plan(['a']), [[0, { epoch: 1, tag: 'a' }]]), 1000);
  history.note(view(plan(['a']), [[0, { epoch: 2, tag: 'a' }]]), 2000);
  assert.equal(history.all.length, 0);
  history.note(view(plan(['a']), [[0, { epoch: 3, tag: 'gone' }]]), 3000);
  const [move] = history.all;
  assert.deepEqual([move?.from, move?.to, move?.tookMs, move?.why, move?.by], ['node-a', 'gone', null, null, null]);
});

test('the history keeps the newest 500 moves', () => {
  const history = new MoveHistory(newClusterShards(2, 0));
  history.note(view(undefined, []), 0);
  for (let epoch = 1; epoch <= 1000; epoch++) {
    history.note(view(undefined, [[0, { epoch, tag: epoch % 2 === 0 ? 'a' : 'b' }]]), epoch);
  }
  assert.deepEqual([history.all.length, history.all[0]?.epoch, history.all.at(-1)?.epoch], [500, 1000, 501]);
});

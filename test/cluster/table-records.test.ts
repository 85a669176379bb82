import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makePlan } from '../../src/cluster/plan.js';
import type { MemberRecord, Plan } from '../../src/ports/table.js';
import { memberOf, planOf } from '../../src/ports/table-records.js';

/** Fields that every version writes. */
const FIRST = { name: 'node-0', host: '127.0.0.1', port: 3002, version: '0.0.1', format: 1 };
const PLAN = { owners: ['a', 'b', 'a'], followers: [['b'], ['a'], ['b']], format: 1 };

/** Assignment that a member makes after reading `record`, while `a` and `b` are alive. */
function planned(record: MemberRecord, before: Plan) {
  return makePlan({
    shards: 3,
    members: ['a', 'b'].map((tag) => ({ ...record, tag, isDraining: record.isLeaving })),
    ownerOf: (shard) => before.owners[shard],
    before,
    followers: 1,
    isCalm: false,
    stuck: new Set(),
    refused: new Set(),
    archiveId: before.archiveId,
  });
}

test("an older version's records lack later fields", () => {
  const member = memberOf(JSON.stringify(FIRST));
  const plan = planOf(JSON.stringify(PLAN));
  assert.equal(plan.pinned.includes(0), false);
  const { owners, followers } = planned(member, plan);
  assert.deepEqual({ owners, followers, format: plan.format }, PLAN);
});

test("a newer version's records count, and their unknown fields are ignored", () => {
  const said = {
    zone: 'x',
    rulesHash: '1',
    isLeaving: true,
    isFull: true,
    hasRoom: true,
    isTimeWrong: true,
    retentionMs: 86_400_000,
    archiveId: 'a1',
    unreachable: ['c'],
  };
  const member = memberOf(JSON.stringify({ ...FIRST, ...said, cores: 8 }));
  assert.deepEqual({ ...member }, { ...FIRST, ...said, cores: 8 });
  const known = { ...PLAN, pinned: [1], archiveId: 'a1', why: 'balance', by: 'node-1' };
  const plan = planOf(JSON.stringify({ ...known, weights: [1, 2, 3] }));
  assert.deepEqual({ ...plan }, { ...known, weights: [1, 2, 3] });
  assert.deepEqual(planned(member, plan).owners, PLAN.owners);
});

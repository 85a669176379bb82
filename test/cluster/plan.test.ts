import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { makePlan, type PlanInput, type PlanMember } from '../../src/cluster/plan.js';

const member = (tag: string, isDraining = false): PlanMember => ({
  tag,
  name: `node-${tag}`,
  zone: '',
  isFull: false,
  hasRoom: true,
  isTimeWrong: false,
  archiveId: undefined,
  unreachable: [],
  isDraining,
});
const ABC = ['a', 'b', 'c'].map((tag) => member(tag));

function planned(input: Partial<PlanInput>) {
  return makePlan({
    shards: 12,
    members: ABC,
    ownerOf: () => undefined,
    before: undefined,
    followers: 1,
    isCalm: false,
    stuck: new Set(),
    refused: new Set(),
    archiveId: undefined,
    ...input,
  });
}

function loads(owners: readonly string[]): Record<string, number> {
  const loads: Record<string, number> = {};
  for (const owner of owners) loads[owner] = (loads[owner] ?? 0) + 1;
  return loads;
}

test('the first assignment spreads shards and followers evenly', () => {
  const { owners, followers } = planned({});
  assert.deepEqual(loads(owners), { a: 4, b: 4, c: 4 });
  assert.deepEqual(loads(followers.flat()), { a: 4, b: 4, c: 4 });
});

test("followers get a dead member's shards, and no other shard moves", () => {
  const before = planned({});
  const after = planned({ members: ABC.slice(1), before });
  for (const [shard, owner] of before.owners.entries()) {
    assert.equal(after.owners[shard], owner === 'a' ? before.followers[shard]?.[0] : owner);
  }
});

test('a draining member gives away all shards, unless it is the last member', () => {
  const before = planned({});
  const draining = planned({ members: [member('a', true), member('b'), member('c')], before });
  assert.deepEqual(Object.keys(loads(draining.owners)).sort(), ['b', 'c']);
  const all = planned({ members: ABC.map(({ tag }) => member(tag, true)), before });
  assert.deepEqual(all.owners, before.owners);
});

test('a shard goes to a member with memory for it, if one exists', () => {
  const full = (tag: string) => ({ ...member(tag), isFull: true, hasRoom: false });
  const before = planned({ followers: 0 });
  const shard = before.owners.indexOf('b');
  const refused = new Set([shard]);
  const ownerOf = (one: number) => (one === shard ? undefined : before.owners[one]);
  const members = [member('a'), full('b'), member('c')];
  const kept = planned({ members, before, ownerOf, followers: 0 });
  assert.equal(kept.owners[shard], 'b');
  const after = planned({ members, before, ownerOf, refused, followers: 0 });
  assert.ok(['a', 'c'].includes(after.owners[shard] as string));
  assert.deepEqual(after.owners.with(shard, 'b'), before.owners);
  const unplanned = planned({ members: ['a', 'b', 'c'].map(full), before, ownerOf, refused, followers: 0 });
  assert.deepEqual(unplanned.owners, before.owners);
});

test('a member without links gets nothing, even before it reports this itself', () => {
  const before = planned({});
  const others = ABC.map((one) => ({ ...one, unreachable: ['x'] }));
  for (const tag of ['0', 'x']) {
    const members = [...ABC.map((one) => ({ ...one, unreachable: [tag] })), member(tag)];
    assert.deepEqual(planned({ members, before }).owners, before.owners, tag);
  }
  const [a] = others;
  const alone = planned({ members: [a as PlanMember, member('x')], ownerOf: () => 'a' });
  assert.deepEqual(loads(alone.owners), { a: 12 });
  const first = planned({ members: [{ ...member('x'), unreachable: ['y'] }, member('y')], ownerOf: () => 'y' });
  assert.deepEqual(loads(first.owners), { y: 12 });
});

test('without an earlier assignment every owner keeps its shards', () => {
  const { owners } = planned({ ownerOf: (shard) => (shard < 9 ? 'b' : undefined) });
  assert.equal(owners.filter((owner) => owner === 'b').length, 9);
});

test('a pinned shard stays in place while others move for balance', () => {
  const owners = ['a', 'a', 'a', 'a', 'b'];
  const before = { owners, followers: owners.map(() => []), pinned: [0, 1] };
  const input = { shards: 5, members: ABC.slice(0, 2), before };
  const { owners: after, pinned } = planned({ ...input, isCalm: true });
  assert.deepEqual(after, ['a', 'a', 'b', 'a', 'b']);
  assert.deepEqual(pinned, [0, 1]);
  assert.deepEqual(planned({ ...input, members: ABC.slice(1) }).pinned, [], 'its owner is gone');
});

test('shards whose owner cannot reach the log go to their followers', () => {
  const before = planned({});
  const mine = [...before.owners.keys()].filter((shard) => before.owners[shard] === 'a');
  const ownerOf = (shard: number) => before.owners[shard];
  const after = planned({ before, ownerOf, stuck: new Set(mine) });
  for (const shard of mine) assert.equal(after.owners[shard], before.followers[shard]?.[0]);
  const alone = planned({ members: [member('a')], before, ownerOf, stuck: new Set(mine) });
  for (const shard of mine) assert.equal(alone.owners[shard], 'a', 'nobody else is there');
});

test('a full member gets only shards that it followed, and follows none', () => {
  const full = { ...member('c'), isFull: true, hasRoom: false };
  const { owners, followers } = planned({ members: [member('a'), member('b'), full] });
  assert.deepEqual(Object.keys(loads(owners)).sort(), ['a', 'b']);
  assert.ok(!followers.flat().includes('c'));
  const before = planned({});
  const after = planned({ members: [{ ...member('b'), isFull: true, hasRoom: false }, full], before });
  for (const [shard, owner] of before.owners.entries()) {
    if (owner === 'a') assert.equal(after.owners[shard], before.followers[shard]?.[0], 'its wallets are there');
  }
  assert.deepEqual(planned({ members: [full] }).owners, Array(12).fill(''), 'nobody has room');
});

test('a recently full member gets only shards without another candidate', () => {
  const wasFull = { ...member('c'), isFull: true };
  assert.deepEqual(loads(planned({ members: [wasFull] }).owners), { c: 12 });
  const isFull = { ...member('b'), isFull: true, hasRoom: false };
  assert.deepEqual(loads(planned({ members: [isFull, wasFull] }).owners), { c: 12 });
  const { owners, followers } = planned({ members: [member('a'), wasFull] });
  assert.deepEqual(loads(owners), { a: 12 }, 'who has not been full comes first');
  assert.deepEqual(followers.flat(), []);
  const served = { ownerOf: () => 'a', before: { owners, followers, pinned: [] } };
  assert.deepEqual(planned({ members: [member('a'), wasFull], ...served, isCalm: true }).owners, owners);
  assert.deepEqual(loads(planned({ members: [member('a', true), wasFull], ...served }).owners), { c: 12 });
});

test('a member with a wrong clock takes no shards but keeps its own', () => {
  const off = (tag: string) => ({ ...member(tag), isTimeWrong: true });
  const before = planned({});
  const ownerOf = (shard: number) => before.owners[shard];
  const kept = planned({ members: [off('a'), member('b'), member('c')], before, ownerOf });
  assert.deepEqual(kept.owners, before.owners);
  const left = planned({ members: [off('a'), member('b')], before, ownerOf });
  for (const [shard, owner] of before.owners.entries()) if (owner === 'c') assert.equal(left.owners[shard], 'b');
  const notYet = planned({ members: [off('a'), member('b')], before: left, ownerOf: () => undefined });
  assert.deepEqual(loads(notYet.owners), { b: 12 });
});

test('balancing moves no shards to a member with a wrong clock', () => {
  const before = planned({ members: [member('a'), member('b')] });
  const calm = { before, ownerOf: (shard: number) => before.owners[shard], isCalm: true };
  assert.deepEqual(
    planned({ ...calm, members: [member('a'), member('b'), { ...member('c'), isTimeWrong: true }] }).owners,
    before.owners,
  );
  assert.equal(loads(planned({ ...calm, members: ABC }).owners).c, 1);
});

test("a member without the cluster's archive, or with a different one, gets nothing", () => {
  const has = (tag: string, archiveId: PlanMember['archiveId'], isDraining = false) => ({
    ...member(tag, isDraining),
    archiveId,
  });
  for (const other of [null, 'another']) {
    const members = [has('a', 'one'), has('b', other)];
    const first = planned({ members, archiveId: 'one' });
    assert.deepEqual(loads(first.owners), { a: 12 });
    assert.deepEqual(first.followers.flat(), []);
    const ownerOf = () => 'a';
    const calm = planned({ members, archiveId: 'one', before: first, ownerOf, isCalm: true });
    assert.deepEqual(loads(calm.owners), { a: 12 }, 'not for balance');
    const stuck = new Set(first.owners.keys());
    assert.deepEqual(loads(planned({ members, archiveId: 'one', before: first, ownerOf, stuck }).owners), { a: 12 });
    const draining = [has('a', 'one', true), has('b', other)];
    const kept = planned({ members: draining, archiveId: 'one', before: first, ownerOf });
    assert.deepEqual(loads(kept.owners), { a: 12 }, 'its owner drains in vain');
    const followed = { ...first, followers: first.owners.map(() => ['b']) };
    const alone = { members: [has('b', other)], archiveId: 'one', before: followed };
    assert.deepEqual(loads(planned(alone).owners), { '': 12 }, 'its owner is gone');
    const given = { ...followed, owners: first.owners.map(() => 'b') };
    assert.deepEqual(loads(planned({ ...alone, before: given, refused: stuck }).owners), { '': 12 });
  }
});

test('a member without an archive keeps the shards that it serves', () => {
  const members = [member('a'), { ...member('b'), archiveId: null }];
  const before = planned({ members: members.slice(1) });
  const kept = planned({ members, archiveId: 'one', before, ownerOf: () => 'b' });
  assert.deepEqual(loads(kept.owners), { b: 12 });
});

test('an older member, or one with an unseen archive, takes shards', () => {
  for (const archiveId of ['', undefined]) {
    const { owners } = planned({ members: [{ ...member('a'), archiveId }], archiveId: 'one' });
    assert.deepEqual(loads(owners), { a: 12 });
  }
});

test('if two members have no link, the worse connected one gives away all shards', () => {
  const cut = (tag: string, ...unreachable: string[]) => ({ ...member(tag), unreachable });
  const one = planned({ members: [cut('a', 'b'), cut('b', 'a', 'c'), cut('c', 'b')] });
  assert.deepEqual(Object.keys(loads(one.owners)).sort(), ['a', 'c']);
  const pair = planned({ members: [cut('a', 'b'), cut('b', 'a')] });
  assert.deepEqual(loads(pair.owners), { a: 12 });
});

test('followers are in a different zone from the owner', () => {
  const zoned = (tag: string, zone: string) => ({ ...member(tag), zone });
  const members = [zoned('a', 'x'), zoned('b', 'x'), zoned('c', 'y'), zoned('d', 'y')];
  const { owners, followers } = planned({ members });
  const zoneOf = (tag: string | undefined) => members.find((one) => one.tag === tag)?.zone;
  for (const [shard, owner] of owners.entries()) assert.notEqual(zoneOf(owner), zoneOf(followers[shard]?.[0]));
});

test('without live members no shard has an owner', () => {
  assert.deepEqual(planned({ members: [] }).owners, Array(12).fill(''));
});

const arbitraryMembers = fc
  .uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1 })
  .chain((tags) => fc.tuple(...tags.map((tag) => fc.boolean().map((isDraining) => member(tag, isDraining)))));

test('every assignment is valid and stable, and balancing moves one shard at a time', () => {
  fc.assert(
    fc.property(
      fc.array(arbitraryMembers, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 40 }),
      fc.nat(2),
      (changes, shards, followers) => {
        let before: PlanInput['before'];
        for (const members of changes) {
          const input = { shards, members, followers, before };
          const plan = planned(input);
          const hosts = members.filter(({ isDraining }) => !isDraining);
          const tags = (hosts.length > 0 ? hosts : members).map(({ tag }) => tag);
          for (const [shard, owner] of plan.owners.entries()) {
            assert.ok(tags.includes(owner));
            const had = before?.owners[shard];
            if (had !== undefined && tags.includes(had)) assert.equal(owner, had, 'who lives keeps its shard');
            const follows = plan.followers[shard] ?? [];
            assert.ok(!follows.includes(owner));
            assert.equal(new Set(follows).size, Math.min(followers, tags.length - 1));
          }
          assert.deepEqual(planned({ ...input, before: plan }), plan, 'who computes it again comes to the same');
          before = plan;
          for (let moves = 0; ; moves++) {
            assert.ok(moves <= shards, 'it comes to an end');
            const next: ReturnType<typeof makePlan> = planned({ ...input, before, isCalm: true });
            const moved = next.owners.filter((owner, shard) => owner !== before?.owners[shard]).length;
            assert.ok(moved <= 1, 'one at a time');
            before = next;
            if (moved === 0) break;
          }
          const counts = tags.map((tag) => loads(before?.owners ?? [])[tag] ?? 0);
          assert.ok(Math.max(...counts) - Math.min(...counts) <= 1);
        }
      },
    ),
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longestRetentionMs } from '../../src/base/irreversible-time.js';
import { Retentions } from '../../src/cluster/retentions.js';
import type { RegistryView } from '../../src/ports/table.js';
import { memberOf } from '../../src/ports/table-records.js';
import type { SimulatedNode } from '../simulation/simulated-node.js';
import { World } from '../simulation/world.js';

function viewOf(members: Readonly<Record<string, object>>): RegistryView {
  const records = Object.entries(members).map(
    ([tag, record]) => [tag, memberOf(JSON.stringify({ name: tag, ...record }))] as const,
  );
  return { version: '1', members: new Map(records), drained: new Set(), plan: undefined, claims: new Map() };
}

function longestOf(...views: readonly RegistryView[]): number {
  const retentions = new Retentions();
  for (const view of views) retentions.viewed(view);
  return longestRetentionMs(30, retentions.all(views.at(-1)));
}

test('the retention of a member that is down still counts', () => {
  assert.equal(
    longestOf(viewOf({ a: { retentionMs: 30 }, b: { retentionMs: 120 } }), viewOf({ a: { retentionMs: 30 } })),
    120,
  );
});

test('a restarted member replaces its earlier retention', () => {
  const before = viewOf({ a: { retentionMs: 30 }, b: { name: 'node-1', retentionMs: 120 } });
  assert.equal(longestOf(before, viewOf({ a: { retentionMs: 30 }, c: { name: 'node-1', retentionMs: 40 } })), 40);
});

test('nothing expires while an older walletd is a member', () => {
  const old = viewOf({ a: { retentionMs: 30 }, b: { version: '0.0.1' } });
  assert.equal(longestOf(old), Number.POSITIVE_INFINITY);
  assert.equal(longestOf(old, viewOf({ a: { retentionMs: 30 } })), 30, 'it has been replaced');
});

test('nothing expires before the registry has answered', () => {
  assert.equal(longestRetentionMs(30, new Retentions().all(undefined)), Number.POSITIVE_INFINITY);
});

test("a node knows the other nodes' clocks", async () => {
  const world = new World({ seed: 1, nodes: 3, shards: 1, servers: 1, players: 1, followers: 1 });
  await world.begin();
  await world.time.pass(15_000);
  const [ahead, other] = world.living as [SimulatedNode, SimulatedNode];
  ahead.process.aheadMs = 200 * 86_400_000;
  await world.time.pass(1000);
  const earliest = ({ cluster }: SimulatedNode) => Math.min(...cluster.witnesses.peersMs);
  assert.ok(Math.abs(earliest(ahead) - other.process.now()) < 1000, 'its peers say when it is');
  assert.equal(ahead.cluster.witnesses.peersMs.length, 2);
  assert.ok(earliest(other) <= other.process.now());
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.js';
import type { SnapshotResult } from '../../src/snapshot/snapshotter.js';
import type { Shards } from '../../src/threads/shards.js';
import { WalletService } from '../../src/threads/wallet-service.js';

/** Shards that never answer, as if their store were silent. */
const SILENT: Shards = {
  start: async () => {},
  execute() {},
  carryOut() {},
  ask() {},
  status: () => [],
  metrics: () => [],
  drain: async () => false,
  takeSnapshots: async () => [],
  isMemoryFull: false,
  allowFormat() {},
  confirmTime() {},
  move: () => Promise.reject(new Error('not asked')),
  keepOrphans: async () => {},
  close: async () => {},
};

test('a node that is not ready says whether it is warming up', () => {
  const service = new WalletService(SILENT, 4, systemClock, 30);
  assert.equal(service.readiness, 'starting');
  service.isWarmingUp = true;
  assert.equal(service.readiness, 'warming-up');
  service.isWarmingUp = false;
  service.isServing = true;
  assert.equal(service.readiness, 'ready');
});

test('snapshot requests during a round share the next round', async () => {
  const rounds: ((results: readonly SnapshotResult[]) => void)[] = [];
  const takeSnapshots = () => new Promise<readonly SnapshotResult[]>((resolve) => rounds.push(resolve));
  const service = new WalletService({ ...SILENT, takeSnapshots }, 4, systemClock, 30);
  const first = service.takeSnapshots();
  await new Promise(setImmediate);
  const others = Array.from({ length: 100 }, () => service.takeSnapshots());
  await new Promise(setImmediate);
  assert.equal(rounds.length, 1, 'one at a time');
  const unchanged = (shard: number): SnapshotResult[] => [{ type: 'unchanged', shard }];
  rounds[0]?.(unchanged(0));
  assert.deepEqual(await first, unchanged(0));
  await new Promise(setImmediate);
  assert.equal(rounds.length, 2, 'one for all of them, begun after they asked');
  rounds[1]?.(unchanged(1));
  assert.deepEqual(
    await Promise.all(others),
    others.map(() => unchanged(1)),
  );
});

test('an operator gets an unknown outcome at the deadline, whatever the store does', async () => {
  const service = new WalletService(SILENT, 4, systemClock, 30);
  const unknown = { type: 'failed', failure: 'not-durable-in-time' };
  assert.deepEqual(await service.operate({ type: 'deposit', id: 'd', username: 'ann', amount: 1 }), unknown);
  assert.deepEqual(await service.ask({ type: 'read-player', username: 'ann' }), unknown);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/base/ports.js';
import type { Shards } from '../../src/worker/shards.js';
import { WalletService } from '../../src/worker/wallet-service.js';

/** Shards whose store never answers. */
const SILENT: Shards = {
  start: async () => {},
  execute() {},
  carryOut() {},
  ask() {},
  status: () => [],
  metrics: () => [],
  drain: async () => false,
  takeSnapshots: async () => [],
  keepOrphans: async () => {},
  close: async () => {},
};

test('an operator is answered by the deadline, whatever the store does: the outcome is unknown', async () => {
  const service = new WalletService(SILENT, 4, systemClock, 30);
  const unknown = { type: 'failed', failure: 'not-durable-in-time' };
  assert.deepEqual(await service.operate({ type: 'deposit', id: 'd', username: 'ann', amount: 1 }), unknown);
  assert.deepEqual(await service.ask({ type: 'read-player', username: 'ann' }), unknown);
});

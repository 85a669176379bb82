import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/logger.js';
import { ShardTelemetry } from '../../src/node/metrics/shard-telemetry.js';
import { EntryCodec } from '../../src/store/format/entry-codec.js';
import { expose } from '../../src/telemetry/exposition.js';
import { MemoryGuard } from '../../src/upkeep/memory-guard.js';
import { ScaleTable } from '../../src/wallet/amount.js';
import { commands } from '../support/domain.js';
import { OWNER } from '../support/host-deps.js';
import { MemoryWal } from '../support/memory-wal.js';
import { Scrape } from '../support/scrape.js';
import { TestHost, turns } from '../support/test-host.js';

const { place } = commands;

/** Runs commands and faults that are rare in practice, and returns a scrape. */
async function watched(run: (test: TestHost) => Promise<void>, rules = {}): Promise<Scrape> {
  const memory = new MemoryGuard({ heapMaxBytes: 1e9, youngBytes: 1e6, recordsMaxBytes: 1e9 }, silentLogger);
  const scales = new ScaleTable({ default: 4, byCurrency: {} });
  const news = { failed() {}, answered() {} };
  const options = { thread: 'main', scales, requestDeadlineMs: 3000, everySeconds: 0, server: () => undefined, news };
  const telemetry = new ShardTelemetry(silentLogger, memory, options);
  const host = await TestHost.started({
    observer: telemetry,
    wal: new MemoryWal('00000000-0000-4000-8000-00000000000c', 2),
    rules,
  });
  await host.fund('ann', 1_000_000);
  await run(host);
  memory.close();
  return new Scrape(await expose(telemetry.metrics(host.host.measures(), { bodies: 0, spanMs: 0 })));
}

test('a store that regains lost entries counts one healed gap', async () => {
  const scrape = await watched(async (test) => {
    await test.execute(place([{ id: 't1' }]));
    await test.execute(place([{ id: 't2' }]));
    test.wal.loseTail(0, 2);
    await test.execute(place([{ id: 't3' }]));
  });
  assert.equal(scrape.value('walletd_gaps_healed_total'), 1);
  assert.equal(scrape.value('walletd_fenced_total'), 0);
});

test('a shard taken over by another process counts as fenced', async () => {
  const scrape = await watched(async (test) => {
    await TestHost.started({ wal: test.wal });
    await test.execute(place([{ id: 't1' }]));
    await turns(5);
  });
  assert.equal(scrape.value('walletd_fenced_total'), 1);
});

test('a shard taken over during an outage no longer counts as unreachable', async () => {
  const scrape = await watched(async (test) => {
    test.wal.faultMode = 'not-written';
    const placed = test.execute(place([{ id: 't1' }]));
    await turns(5);
    test.wal.faultMode = 'fine';
    // Let a different owner take over before the append is retried.
    await test.wal.fence([0, 1], (shard, previous) => {
      const lsn = { epoch: previous.lsn.epoch + 1, sequence: previous.lsn.sequence + 1 };
      const header = { shard, lsn, nonce: 'f'.repeat(16), previous, timeMs: 1 };
      return new EntryCodec(test.wal.storeId).encodeFence(header, OWNER);
    });
    await placed;
    await turns(5);
  });
  assert.equal(scrape.value('walletd_fenced_total'), 1);
  assert.equal(scrape.value('walletd_store_up'), 1);
});

test("a bug that discards a shard's memory is counted and logged with its request", async () => {
  const products = new Map();
  products.get = () => {
    throw new Error('injected bug');
  };
  const lines: object[] = [];
  const scrape = await watched(
    async (test) => {
      await test.execute(place([{ id: 't1' }]));
      for (const { fields } of test.logLines) if (fields.code === 'shard-failed') lines.push(fields);
    },
    { products },
  );
  assert.equal(scrape.value('walletd_assertion_failures_total'), 1);
  const [{ request, requestId, username }] = lines as [Record<string, unknown>];
  assert.deepEqual([lines.length, request, typeof requestId, username], [1, 'placeBets', 'string', 'ann']);
});

test('each failed append is counted once', async () => {
  const scrape = await watched(async (test) => {
    test.wal.faultMode = 'not-written';
    const placed = test.execute(place([{ id: 't1' }]));
    await turns(5);
    test.wal.faultMode = 'fine';
    await placed;
  });
  assert.ok(scrape.value('walletd_append_failures_total') >= 1);
  assert.equal(scrape.value('walletd_log_events_total'), 2);
});

test('an abandoned snapshot is counted', async () => {
  const scrape = await watched(async (test) => {
    await test.host.takeSnapshots({ restMs: 0, deadlineMs: Number.NEGATIVE_INFINITY });
  });
  assert.ok(scrape.value('walletd_snapshots_total', { result: 'abandoned' }) >= 1);
  assert.equal(scrape.value('walletd_snapshot_entries_behind', { shard: '0' }), 1);
});

test('currencies beyond the scrape limit share one label', async () => {
  const scrape = await watched(async (test) => {
    for (let i = 0; i < 150; i++) {
      const currency = `C${String(i).padStart(3, '0')}`;
      await test.execute({ type: 'import-player', id: 'o', username: `p${i}`, currency, balance: 10_000 });
    }
  });
  const currencies = new Set(scrape.series('walletd_money_total').map(({ labels }) => labels?.currency));
  assert.equal(currencies.size, 101);
  assert.equal(scrape.value('walletd_money_total', { currency: 'other' }), 51);
});

test('credits without a bet are counted by product; products beyond the limit share one', async () => {
  const { reward, movement } = commands;
  const scrape = await watched(async (test) => {
    await test.execute(place([{ id: 'b' }]));
    for (let i = 0; i < 3; i++) await test.execute(reward([{ id: `w${i}`, payoutAmount: 20_000 }], { id: `q${i}` }));
    await test.execute(
      movement([
        { id: 'm', status: 'CREDIT', amount: 50_000 },
        { id: 'n', status: 'DEBIT', amount: 70_000 },
      ]),
    );
    for (let i = 0; i < 250; i++) {
      await test.execute(reward([{ id: 'w', payoutAmount: 10_000 }], { productId: `Q${i}`, id: `r${i}` }));
    }
  });
  const credits = (labels: Record<string, string>) => scrape.value('walletd_credits_total', labels);
  assert.equal(credits({ product: 'P1', currency: 'THB', kind: 'rewards' }), 6);
  assert.equal(credits({ product: 'P1', currency: 'THB', kind: 'movements' }), 5);
  assert.equal(credits({ product: 'Q7' }), 1);
  assert.equal(credits({ product: 'other' }), 52);
  assert.equal(scrape.series('walletd_credits_total').length, 201);
});

import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { shardOf } from '../../src/threads/placement.js';
import { bet, importPlayers, PlatformClient, settlement } from '../support/client.js';
import { Scrape } from '../support/scrape.js';
import { signedHeaders } from '../support/signed-headers.js';
import { TestNode } from '../support/test-node.js';

const DYING_WORKER = new URL('../support/dying-worker.js', import.meta.url);
const SHARDS = 4;

const voided = (username: string, id: string, betAmount: number, payoutAmount: number) => {
  const fixed = { status: 'VOID', transactionType: 'BY_TRANSACTION', gameCode: 'g', playInfo: 'p' };
  const txns = [{ id, roundId: `r-${id}`, betAmount, payoutAmount, ...fixed }];
  return { id: `v-${id}`, timestampMillis: 1, productId: 'P', currency: 'THB', username, txns };
};
const cancelled = (username: string, id: string) => {
  const fixed = { status: 'REFUND', transactionType: 'BY_TRANSACTION', gameCode: 'g', playInfo: 'p' };
  const txns = [{ id, roundId: `r-${id}`, betAmount: 1, ...fixed }];
  return { id: `c-${id}`, timestampMillis: 1, productId: 'P', currency: 'THB', username, txns };
};
const tip = (username: string, id: string) => {
  const txns = [{ id, roundId: `r-${id}`, status: 'REFUND', betAmount: 2 }];
  return { id: `t-${id}`, timestampMillis: 1, productId: 'P', currency: 'THB', username, txns };
};

const settledTime = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

for (const workers of [0, 2]) {
  describe(`GET /metrics with ${workers} workers`, () => {
    let node: TestNode;
    let scrape: Scrape;

    before(async () => {
      node = await TestNode.start({ workers, 'tips.unknown': 'credit' });
      await importPlayers(node.adminUrl, ['ann', 'bob'], 1000);
      const client = new PlatformClient(node.callbackUrl);
      await client.post('placeBets', bet('ann', 'b1', 10.5));
      await client.post('placeBets', bet('ann', 'b1', 10.5));
      await client.post('settleBets', settlement('ann', 'b1', 25));
      await client.post('voidSettled', voided('ann', 'b1', 10, 25));
      await client.post('placeBets', bet('bob', 'b2', 10_000));
      await client.post('cancelBets', cancelled('bob', 'unknown'));
      await client.post('cancelTips', tip('bob', 'tip'));
      await client.post('placeBets', bet('bob', 'b3', 4));
      await client.post('placeBets', { id: 'broken' });
      await client.post('nowhere', {});
      client.close();
      await (await fetch(`${node.adminUrl}/v1/snapshots`, { method: 'POST' })).text();
      // Wait for the workers, which report their counters once a second.
      if (workers > 0) await settledTime(1300);
      scrape = await Scrape.of(node.adminUrl);
    });
    after(() => node.close());

    test("the process's version, commit and Node.js version are shown", async () => {
      const { text } = scrape;
      assert.match(text, /^walletd_build_info\{version="\d+\.\d+\.\d+",commit="[^"]+",node="v[^"]+"\} 1$/m);
    });

    test('the answer is valid Prometheus text 0.0.4, with help for every metric', async () => {
      const response = await fetch(`${node.adminUrl}/metrics`);
      await response.text();
      assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
      assert.ok(scrape.families.length > 30);
      for (const { name, help, type } of scrape.families) {
        assert.notEqual(type, 'UNTYPED', name);
        assert.match(help, /\S.*/, name);
      }
      const names = scrape.families.map(({ name }) => name);
      assert.equal(new Set(names).size, names.length, 'each name once');
    });

    test('callbacks are counted by endpoint, statusCode and HTTP status', () => {
      const callbacks = (endpoint: string, status_code: string, http_status: string) =>
        scrape.value('walletd_callbacks_total', { endpoint, status_code, http_status });
      assert.equal(callbacks('placeBets', '0', '200'), 3);
      assert.equal(callbacks('placeBets', '10002', '200'), 1);
      assert.equal(callbacks('placeBets', '40003', '400'), 1);
      assert.equal(callbacks('settleBets', '0', '200'), 1);
      assert.equal(callbacks('cancelBets', '20001', '200'), 1);
      assert.equal(callbacks('other', '40003', '404'), 1);
      assert.equal(scrape.value('walletd_callbacks_total'), 10);
    });

    test('latency has a histogram per stage and one for the total', () => {
      // The two imports also go through the shards; the malformed body does not reach any shard.
      assert.equal(scrape.value('walletd_stage_seconds_count', { stage: 'queue' }), 10);
      assert.equal(scrape.value('walletd_stage_seconds_count', { stage: 'decide' }), 10);
      assert.equal(scrape.value('walletd_stage_seconds_count', { stage: 'durable' }), 10);
      assert.equal(scrape.value('walletd_stage_seconds_count', { stage: 'reply' }), 8);
      assert.equal(scrape.value('walletd_callback_seconds_count'), 9);
      const sum = (stage: string) => scrape.value('walletd_stage_seconds_sum', { stage });
      for (const stage of ['queue', 'decide', 'durable', 'reply']) {
        assert.ok(sum(stage) > 0 && sum(stage) < 5, `${stage}: ${sum(stage)} s`);
      }
      const buckets = scrape.series('walletd_stage_seconds_bucket', { stage: 'durable' });
      const counts = buckets.map(({ value }) => Number(value));
      assert.deepEqual(
        counts,
        [...counts].sort((a, b) => a - b),
      );
      assert.deepEqual([buckets.at(-1)?.labels?.le, counts.at(-1)], ['+Inf', 10]);
    });

    test('batch size, append latency, mailbox length and pending requests are measured', () => {
      const events = scrape.value('walletd_log_events_total');
      assert.equal(events, 8, 'two players, b1, its settlement, its void, a tombstone, a tip, b3');
      assert.equal(scrape.value('walletd_batch_events_sum'), events);
      assert.equal(scrape.value('walletd_append_seconds_count'), scrape.value('walletd_batch_events_count'));
      assert.ok(scrape.value('walletd_append_seconds_sum') > 0);
      assert.ok(scrape.value('walletd_log_bytes_total') > 100);
      assert.equal(scrape.series('walletd_mailbox_length').length, SHARDS);
      assert.equal(scrape.value('walletd_callbacks_in_flight'), 0);
    });

    test('shard state, watermarks, epoch, players and transactions are measured', () => {
      for (let shard = 0; shard < SHARDS; shard++) {
        const of = (labels: Record<string, string>) => ({ shard: String(shard), ...labels });
        assert.equal(scrape.value('walletd_shard_state', of({ state: 'serving' })), 1);
        assert.equal(scrape.value('walletd_shard_state', of({})), 1, 'one state at a time');
        const at = (watermark: string) => scrape.value('walletd_shard_sequence', of({ watermark }));
        assert.ok(at('applied') >= at('appended') && at('appended') >= at('durable') && at('durable') >= 1);
        assert.equal(scrape.value('walletd_shard_epoch', of({})), 1);
      }
      assert.equal(scrape.value('walletd_players'), 2);
      // b1, a tombstone, a tip, and b3.
      assert.equal(scrape.value('walletd_transactions'), 4);
      const shard = String(shardOf('ann', SHARDS));
      const snapshot = scrape.value('walletd_shard_sequence', { shard, watermark: 'snapshot' });
      assert.equal(snapshot, scrape.value('walletd_shard_sequence', { shard, watermark: 'durable' }));
    });

    test('warnings are counted by kind, including kinds that never occurred', () => {
      const remarks = (remark: string) => scrape.value('walletd_remarks_total', { remark });
      assert.deepEqual(
        ['repeat', 'amount-mismatch', 'tombstone', 'unknown-tip', 'further-payout'].map(remarks),
        [1, 1, 1, 1, 0],
      );
      assert.equal(scrape.series('walletd_remarks_total', { remark: 'further-payout' }).length, 1);
      assert.equal(scrape.value('walletd_fenced_total'), 0);
      assert.equal(scrape.value('walletd_gaps_healed_total'), 0);
    });

    test('the log line about an amount mismatch names the request and the player', { skip: workers > 0 }, () => {
      const lines = node.logLines.filter(({ code }) => code === 'amount-mismatch');
      assert.deepEqual(
        lines.map(({ requestId, username }) => [requestId, username]),
        [['v-b1', 'ann']],
      );
    });

    test('money is totalled by kind and currency', () => {
      const moved = (kind: string, direction: string) =>
        scrape.value('walletd_money_total', { currency: 'THB', kind, direction });
      assert.equal(moved('deposits', 'credit'), 2000);
      assert.equal(moved('stakes', 'debit'), 14.5);
      assert.equal(moved('payouts', 'credit'), 25);
      assert.equal(moved('voids', 'debit'), 14.5);
      assert.equal(moved('tip-refunds', 'credit'), 2);
    });

    test('event loop delay, heap and heap limit are measured per thread', () => {
      const threads = workers === 0 ? ['main'] : ['main', 'worker-0', 'worker-1'];
      for (const thread of threads) {
        const used = scrape.value('walletd_heap_used_bytes', { thread });
        const limit = scrape.value('walletd_heap_limit_bytes', { thread });
        assert.ok(used > 1e6 && used < limit, `${thread}: ${used} of ${limit}`);
        assert.equal(scrape.series('walletd_event_loop_delay_seconds', { thread, quantile: '0.99' }).length, 1);
      }
      assert.equal(scrape.series('walletd_heap_used_bytes').length, threads.length);
      assert.equal(scrape.value('walletd_memory_full'), 0);
    });

    test('snapshot age, duration, bytes and abandoned snapshots are measured', () => {
      const shard = String(shardOf('ann', SHARDS));
      const takenSeconds = scrape.value('walletd_snapshot_timestamp_seconds', { shard });
      assert.ok(Math.abs(Date.now() / 1000 - takenSeconds) < 60);
      assert.ok(scrape.value('walletd_snapshot_bytes', { shard }) > 50);
      assert.ok(scrape.value('walletd_snapshot_duration_seconds', { shard }) < 30);
      assert.ok(scrape.value('walletd_snapshots_total', { result: 'taken' }) >= 1);
      assert.equal(scrape.value('walletd_snapshots_total', { result: 'abandoned' }), 0);
    });

    test('after a restart from a snapshot, its age, players and transactions are known', async () => {
      await node.restart();
      if (workers > 0) await settledTime(1300);
      const next = await Scrape.of(node.adminUrl);
      assert.ok(next.value('walletd_snapshot_timestamp_seconds') > 0);
      assert.equal(next.value('walletd_players'), 2);
      const held = next.value('walletd_transactions');
      assert.ok(held > 0);
      assert.equal(next.value('walletd_players_packed'), 2);
      assert.ok(next.value('walletd_record_bytes', { part: 'used' }) > 0);
      const client = new PlatformClient(node.callbackUrl);
      await client.post('placeBets', bet('bob', 'after the restart', 1));
      client.close();
      if (workers > 0) await settledTime(1300);
      const asked = await Scrape.of(node.adminUrl);
      assert.equal(asked.value('walletd_transactions'), held + 1);
      assert.equal(asked.value('walletd_players_packed'), 1);
      assert.equal(asked.value('walletd_shard_epoch', { shard: '0' }), 2);
    });
  });
}

test('/metrics needs a token if one is set, and the read role suffices', async () => {
  const reader = { name: 'prometheus', role: 'read', token: 'a-token-of-prometheus' };
  const node = await TestNode.start({ 'admin.token': 'a-long-enough-token', 'admin.tokens': [reader] });
  try {
    const get = (path: string, headers: Record<string, string> = {}) => fetch(node.adminUrl + path, { headers });
    for (const path of ['/metrics', '/openapi.json']) {
      assert.equal((await get(path)).status, 401);
      assert.equal((await get(path, { Authorization: 'Bearer a-long-enough-token' })).status, 200);
      assert.equal((await get(path, { Authorization: `Bearer ${reader.token}` })).status, 200);
    }
  } finally {
    await node.close();
  }
});

test('callbacks are counted by signature key', async () => {
  const node = await TestNode.start({ 'signature.keys': 'old:a-secret-of-the-platform new:another-of-the-platform' });
  try {
    const body = JSON.stringify(bet('nobody', 'b1'));
    const headers = signedHeaders(createSecretKey('another-of-the-platform', 'utf8'), body);
    await (await fetch(`${node.callbackUrl}/placeBets`, { method: 'POST', body, headers })).text();
    await (await fetch(`${node.callbackUrl}/placeBets`, { method: 'POST', body })).text();
    const scrape = await Scrape.of(node.adminUrl);
    assert.equal(scrape.value('walletd_signed_total', { key: 'new' }), 1);
    assert.equal(scrape.value('walletd_signed_total', { key: 'old' }), 0);
    assert.equal(scrape.value('walletd_callbacks_total', { result: 'invalid-signature', http_status: '401' }), 1);
  } finally {
    await node.close();
  }
});

test("a dead worker's counters stay in the totals, but its heap does not", async () => {
  const node = await TestNode.start({ workers: 1 }, DYING_WORKER);
  const client = new PlatformClient(node.callbackUrl);
  try {
    await importPlayers(node.adminUrl, ['ann'], 1000);
    await settledTime(1300);
    const before = await Scrape.of(node.adminUrl);
    assert.equal(before.value('walletd_money_total', { kind: 'deposits' }), 1000);
    await client.post('placeBets', { ...bet('ann', 'deadly'), productId: 'DIE' });
    const dead = await Scrape.of(node.adminUrl);
    assert.equal(dead.value('walletd_shard_state', { state: 'starting' }), SHARDS);
    assert.equal(dead.value('walletd_money_total', { kind: 'deposits' }), 1000);
    assert.equal(dead.series('walletd_heap_used_bytes', { thread: 'worker-0' }).length, 0);
    for (let i = 0; (await client.post('placeBets', bet('ann', `after-${i}`))).statusCode !== 0; i++) {
      assert.ok(i < 500);
      await settledTime(20);
    }
    await settledTime(1300);
    const back = await Scrape.of(node.adminUrl);
    assert.equal(back.value('walletd_money_total', { kind: 'deposits' }), 1000);
    assert.equal(back.value('walletd_shard_state', { state: 'serving' }), SHARDS);
    assert.equal(back.series('walletd_heap_used_bytes', { thread: 'worker-0' }).length, 1);
  } finally {
    client.close();
    await node.close();
  }
});

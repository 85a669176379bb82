import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { AdminDeps } from '../../src/admin/admin-deps.js';
import { ledgerRoutes } from '../../src/admin/tallies.js';
import { bet, importPlayers, PlatformClient, settlement } from '../support/client.js';
import { TestNode } from '../support/test-node.js';

interface Money {
  readonly sinceMillis: number | null;
  readonly days: readonly { day: string; currency: string; kind: string; credited: number; debited: number }[];
}

describe('money by day and products, for all shards', () => {
  let node: TestNode;
  let platform: PlatformClient;
  const text = async (path: string) => await (await fetch(`${node.adminUrl}/v1/${path}`)).text();
  /** Totals over two days, because the date can change while the test runs. */
  const sums = async () => {
    const { days } = JSON.parse(await text('money?days=2')) as Money;
    const all = new Map<string, { credited: number; debited: number }>();
    for (const { currency, kind, credited, debited } of days) {
      const before = all.get(`${currency} ${kind}`) ?? { credited: 0, debited: 0 };
      all.set(`${currency} ${kind}`, { credited: before.credited + credited, debited: before.debited + debited });
    }
    return [...all].map(([key, { credited, debited }]) => `${key} +${credited} -${debited}`).sort();
  };

  before(async () => {
    node = await TestNode.start({ workers: 1 });
    platform = new PlatformClient(node.callbackUrl);
    await importPlayers(node.adminUrl, ['ann', 'bob', 'cid', 'dan'], 100.25);
    for (const name of ['ann', 'bob', 'cid']) {
      await platform.post('placeBets', { ...bet(name, `bet-${name}`, 10.5), productId: `of-${name}` });
    }
    await platform.post('settleBets', { ...settlement('ann', 'bet-ann', 25), productId: 'of-ann' });
    await platform.post('settleBets', { ...settlement('ann', 'bet-ann', 25), productId: 'of-ann' });
    platform.close();
  });
  after(() => node.close());

  const EXPECTED = ['THB deposits +401 -0', 'THB payouts +25 -0', 'THB stakes +0 -31.5'];

  test('a repeat counts once, and totals are exact to the last digit', async () => {
    assert.deepEqual(await sums(), EXPECTED);
    const rich = '{"id":"rich","amount":9007199254.7409}';
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: rich };
    await fetch(`${node.adminUrl}/v1/players/dan/deposits`, init);
    assert.match(
      await text('money?days=2'),
      /"deposits","credited":9007199655\.7409,"debited":0,"net":9007199655\.7409/,
    );
    const back = { ...init, body: '{"id":"poor","amount":9007199254.7409}' };
    await fetch(`${node.adminUrl}/v1/players/dan/withdrawals`, back);
  });

  test('the totals survive a start from a snapshot, with or without later entries', async () => {
    const [money, products] = [await sums(), await text('products')];
    await node.restart();
    assert.deepEqual([await sums(), await text('products')], [money, products]);
    const client = new PlatformClient(node.callbackUrl);
    await client.post('placeBets', { ...bet('dan', 'bet-dan', 1), productId: 'of-ann' });
    client.close();
    const later = await text('products');
    assert.notEqual(later, products);
    await node.restart();
    assert.equal(await text('products'), later);
    assert.equal((JSON.parse(later) as Money).sinceMillis, null);
  });

  test('products are listed by name with their changes', async () => {
    const { products } = JSON.parse(await text('products')) as { products: { productId: string; changes: object }[] };
    assert.deepEqual(
      products.map(({ productId, changes }) => [productId, changes]),
      [
        ['of-ann', { stakes: 2, payouts: 1 }],
        ['of-bob', { stakes: 1 }],
        ['of-cid', { stakes: 1 }],
      ],
    );
  });

  test('an invalid number of days is refused', async () => {
    for (const days of ['0', '36', 'x']) {
      assert.equal((await fetch(`${node.adminUrl}/v1/money?days=${days}`)).status, 400);
    }
  });
});

test('at most four reads run at once', async () => {
  const service = { shardCount: 1, askShard: () => new Promise(() => {}) };
  const [money] = ledgerRoutes({ service } as unknown as AdminDeps);
  const read = money?.handle as unknown as (request: object) => Promise<unknown>;
  for (let n = 0; n < 4; n++) void read({ query: {} });
  await assert.rejects(read({ query: {} }), /4 readings are running/);
});

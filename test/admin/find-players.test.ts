import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { importPlayers } from '../support/client.js';
import { TestNode } from '../support/test-node.js';

interface Page {
  readonly players: readonly { readonly username: string }[];
  readonly next: string | null;
}

/** Number of players, too many for one turn to examine all of them on either of the two shards. */
const MANY = 21_000;

describe('players are found by name prefix', () => {
  let node: TestNode;
  before(async () => {
    node = await TestNode.start({ shards: 2 });
    await importPlayers(
      node.adminUrl,
      Array.from({ length: MANY }, (_, i) => `${i % 50 === 0 ? 'vip' : 'guest'}-${i}`),
      10,
    );
  });
  after(() => node.close());

  const ask = async (query: string) => {
    const response = await fetch(`${node.adminUrl}/v1/players?${query}`);
    return { status: response.status, body: (await response.json()) as Page & { readonly detail: string } };
  };

  async function all(query: string): Promise<string[]> {
    const names: string[] = [];
    for (let after = ''; ; ) {
      const { players, next } = (await ask(query + after)).body;
      names.push(...players.map(({ username }) => username));
      if (next === null) return names;
      after = `&after=${next}`;
    }
  }

  const check = async () => {
    const vips = await all('prefix=vip-&limit=70');
    assert.equal(vips.length, MANY / 50);
    assert.equal(new Set(vips).size, vips.length, 'none twice');
    assert.ok(vips.every((name) => name.startsWith('vip-')));
    assert.equal((await all('limit=1000')).length, MANY);
    assert.deepEqual(await all('prefix=nobody'), []);
    assert.deepEqual((await all('prefix=vip-2050')).sort(), ['vip-2050', 'vip-20500']);
  };

  test('each player is found exactly once across all shards and pages', check);

  test('hibernated players loaded from a snapshot are found', async () => {
    await node.restart();
    await check();
  });

  test('a page shows current player data, for at most the requested number of players', async () => {
    const { body } = await ask('prefix=vip-0&limit=1');
    assert.deepEqual(body.players, [{ username: 'vip-0', currency: 'THB', balance: 10, status: 'active' }]);
    assert.equal((await ask('limit=3')).body.players.length, 3);
  });

  test('all pages except the last are full', async () => {
    let after = '';
    for (let left = MANY; left > 0; left -= 1000) {
      const { players, next } = (await ask(`limit=1000${after}`)).body;
      assert.equal(players.length, Math.min(left, 1000));
      after = `&after=${next}`;
    }
  });

  test('an error in the query is explained', async () => {
    for (const [query, detail] of [
      ['after=x', /^after must be the `next` of an earlier page/],
      ['limit=0', /limit must be a whole number from 1 to 1000/],
      ['limit=1001', /limit must be a whole number from 1 to 1000/],
      [`prefix=${'x'.repeat(1025)}`, /prefix must/],
      ['prefix=a&prefix=b', /prefix must come once/],
    ] as const) {
      const { status, body } = await ask(query);
      assert.equal(status, 400, query);
      assert.match(body.detail, detail);
    }
  });
});

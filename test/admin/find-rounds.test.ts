import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { bet, importPlayers, PlatformClient, type RequestBody, settlement } from '../support/client.js';
import { TestNode } from '../support/test-node.js';

interface Round {
  readonly roundId: string;
  readonly transactions: readonly { readonly id: string; readonly state: string }[];
  readonly messages: readonly {
    readonly type: string;
    readonly kind: string;
    readonly id?: string;
    readonly version: number;
    readonly amount?: number;
    readonly balanceBefore: number;
    readonly balanceAfter: number;
    readonly isWaiting: boolean;
  }[];
}

interface Line {
  readonly type: string;
  readonly version?: number;
  readonly what?: readonly string[];
  readonly requestId?: string;
}

describe("a player's rounds are listed message by message", () => {
  let node: TestNode;
  before(async () => {
    node = await TestNode.start();
    const platform = new PlatformClient(node.callbackUrl);
    await importPlayers(node.adminUrl, ['ann', 'bob', 'cid'], 100);
    const first = bet('ann', 'one', 10);
    const two: RequestBody = { ...first, txns: [...first.txns, { ...first.txns[0], id: 'two' }] };
    await platform.post('placeBets', two);
    await platform.post('placeBets', bet('bob', 'one', 10));
    await platform.post('placeBets', bet('ann', 'other', 1));
    await platform.post('settleBets', { ...settlement('ann', 'one', 25) });
    const again = { ...first, id: 'q-twice', txns: [] };
    const waiting = { ...first.txns[0], id: 'twice', roundId: 'r-twice', status: 'WAITING' };
    await platform.post('placeBets', { ...again, username: 'cid', txns: [waiting, { ...waiting, status: 'OPEN' }] });
    // Send a repeat and a message that is refused. Neither is listed.
    await platform.post('settleBets', settlement('ann', 'one', 25));
    await platform.post('placeBets', bet('ann', 'too-much', 1000));
    platform.close();
  });
  after(() => node.close());

  const rounds = async (query = '', username = 'ann') => {
    const response = await fetch(`${node.adminUrl}/v1/players/${username}/rounds${query}`);
    return (await response.json()) as { readonly rounds: readonly Round[]; readonly next: string | null };
  };
  const log = async (query = '') => {
    const text = await (await fetch(`${node.adminUrl}/v1/players/ann/log${query}`)).text();
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
    return lines.filter(({ type }) => type === 'event' || type === 'end');
  };

  test('rounds are newest first, each message once, with balances before and after', async () => {
    const { rounds: all, next } = await rounds();
    assert.equal(next, null);
    assert.deepEqual(
      all.map(({ roundId, messages }) => [
        roundId,
        messages.map(({ type, kind, id, amount, balanceBefore, balanceAfter }) => [
          `${kind} ${type}`,
          id,
          amount,
          balanceBefore,
          balanceAfter,
        ]),
      ]),
      [
        ['r-other', [['bet place', 'other', 1, 80, 79]]],
        [
          'r-one',
          [
            ['bet place', 'one', 10, 100, 90],
            ['bet place', 'two', 10, 90, 80],
            ['bet settle', 'one', 25, 79, 104],
          ],
        ],
      ],
    );
  });

  test('two messages about one bet in the same request are listed in order', async () => {
    const { rounds: all } = await rounds('', 'cid');
    assert.deepEqual(
      all[0]?.messages.map(({ id, isWaiting }) => [id, isWaiting]),
      [
        ['twice', true],
        ['twice', false],
      ],
    );
  });

  test('a round with more transactions than a page continues on the next page', async () => {
    const pages = [];
    for (let query = '?limit=1', next: string | null = ''; next !== null; query = `?limit=1&before=${next}`) {
      const page = await rounds(query);
      pages.push(page.rounds.map(({ roundId, transactions }) => [roundId, transactions.map(({ id }) => id)]));
      next = page.next;
    }
    assert.deepEqual(pages, [[['r-other', ['other']]], [['r-one', ['two']]], [['r-one', ['one']]]]);
  });

  test('the log gives the request ID of each message by the version it created', async () => {
    const events = await log();
    assert.deepEqual(
      events.map(({ what, requestId }) => [what, requestId]),
      [
        [['player-imported'], undefined],
        [['bet-placed', 'bet-placed'], 'q-one'],
        [['bet-placed'], 'q-other'],
        [['bet-settled'], 's-one'],
        [undefined, undefined],
      ],
    );
    const versions = new Map(events.map(({ version, requestId }) => [version, requestId]));
    const { rounds: all } = await rounds();
    assert.deepEqual(
      all.flatMap(({ messages }) => messages.map(({ version }) => versions.get(version))),
      ['q-other', 'q-one', 'q-one', 's-one'],
    );
    assert.deepEqual((await log('?from=4')).length, 2, 'older versions are left out');
  });
});

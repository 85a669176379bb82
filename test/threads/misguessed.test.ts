import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guessUsername } from '../../src/callback/guess-username.js';
import { shardOf } from '../../src/threads/placement.js';
import { balanceOf, bet, importPlayers } from '../support/client.js';
import { TestNode } from '../support/test-node.js';

/*
 * The main thread guesses a callback's player from a quick scan. A worker that does not have the real player returns
 * the callback.
 */

/** Bodies of the same bet, in which the quick scan finds a different name from the player's. */
const MISLEADING: Readonly<Record<string, (body: string) => string>> = {
  'a field with escapes': (body) => body.replace('"username"', '"\\u0075sername"'),
  'two names, of which the last one counts': (body) => body.replace('{', '{"username":"nobody",'),
  'another name before it, in an unknown field': (body) => body.replace('{', '{"platform":{"username":"nobody"},'),
};

for (const [what, mislead] of Object.entries(MISLEADING)) {
  test(`${what}: the callback reaches its player on any worker`, async () => {
    const node = await TestNode.start({ workers: 2 });
    try {
      const names = Array.from({ length: 8 }, (_, i) => `ann${i}`);
      const workers = new Set(names.map((name) => shardOf(name, 4) % 2));
      assert.equal(workers.size, 2, 'players of both workers');
      await importPlayers(node.adminUrl, names, 100);
      for (const name of names) {
        const body = mislead(JSON.stringify(bet(name, 'b1', 10)));
        const wasMisled = guessUsername(body) !== name;
        assert.ok(wasMisled, body);
        for (const _ of ['first', 'repeat']) {
          const response = await fetch(`${node.callbackUrl}/placeBets`, { method: 'POST', body });
          const { id, statusCode, balanceBefore, balanceAfter } = (await response.json()) as Record<string, unknown>;
          assert.deepEqual([id, statusCode, balanceBefore, balanceAfter], ['q-b1', 0, 100, 90]);
        }
        assert.equal(await balanceOf(node.adminUrl, name), 90);
      }
    } finally {
      await node.close();
    }
  });
}

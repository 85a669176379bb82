import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { FeedEvent } from '../../src/feed/event.js';
import { bet, importPlayers, PlatformClient, settlement } from '../support/client.js';
import { withNode } from '../support/with-node.js';
import { ROOT } from '../tidy/pages.js';

type Players = Map<string, { readonly loaded: number; readonly balance: string }>;

interface Example {
  consume(url: string, seen: Set<string>, process: (event: FeedEvent) => void): Promise<void>;
  loadBalances(server: string, players: Players): Promise<void>;
  applyEvent(players: Players, event: FeedEvent): void;
}

/** The functions in the code of the page about the feed. */
async function example(): Promise<Example> {
  const page = readFileSync(join(ROOT, 'docs/feed.md'), 'utf8');
  const code = [...page.matchAll(/```js\n([\s\S]*?)```/g)].map(([, block]) => block).join('\n');
  return (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as Example;
}

test('the consumer of the page about the feed processes each event once', async () => {
  const { consume } = await example();
  await withNode({}, async (node) => {
    const body = JSON.stringify({ name: 'crm', from: 'start' });
    const headers = { 'Content-Type': 'application/json' };
    await fetch(`${node.adminUrl}/v1/feeds`, { method: 'POST', headers, body });
    const url = `${node.adminUrl}/v1/feeds/crm`;
    const seen = new Set<string>();
    const processed: string[] = [];
    const crash = new Error('the consumer crashes');
    const platform = new PlatformClient(node.callbackUrl);
    await platform.post('placeBets', bet('ann', 'b1'));
    await platform.post('placeBets', bet('ann', 'b2'));
    platform.close();
    const crashing = consume(url, seen, ({ data }) => {
      if (data.transactionId === 'b2') throw crash;
      processed.push(String(data.transactionId));
    });
    await assert.rejects(crashing, crash);
    await consume(url, seen, ({ data }) => processed.push(String(data.transactionId)));
    assert.deepEqual(processed, ['open', 'b1', 'b2']);
  });
});

test('balances loaded during play continue with the feed, without a gap or repeat', async () => {
  const { loadBalances, applyEvent } = await example();
  const names = Array.from({ length: 12 }, (_, i) => `player-${i}`);
  await withNode({}, async (node) => {
    await importPlayers(node.adminUrl, names, 1000);
    const body = JSON.stringify({ name: 'crm', from: 'now' });
    const headers = { 'Content-Type': 'application/json' };
    const created = await fetch(`${node.adminUrl}/v1/feeds`, { method: 'POST', headers, body });
    let { position } = (await created.json()) as { position: string };
    const platform = new PlatformClient(node.callbackUrl);
    const play = async (round: number) => {
      for (const name of names) {
        await platform.post('placeBets', bet(name, `${name}-${round}`, 3));
        await platform.post('settleBets', settlement(name, `${name}-${round}`, round));
      }
    };
    const players: Players = new Map();
    // One pass of play before, one while, and one after the balances are loaded.
    await play(1);
    await Promise.all([play(2), loadBalances(node.adminUrl, players)]);
    await importPlayers(node.adminUrl, ['later'], 50);
    await play(3);
    platform.close();
    const sums = new Map([...players].map(([name, { balance }]) => [name, Number(balance)]));
    for (;;) {
      const query = new URLSearchParams({ after: position });
      const page = await (await fetch(`${node.adminUrl}/v1/feeds/crm/events?${query}`)).json();
      const { events, next } = page as { events: FeedEvent[]; next: string };
      if (events.length === 0) break;
      for (const event of events) {
        const { username, version, balanceBefore, balanceAfter } = event.data;
        const isNew = version > (players.get(username)?.loaded ?? 0);
        const moved = isNew ? Number(balanceAfter) - Number(balanceBefore) : 0;
        sums.set(username, (sums.get(username) ?? 0) + moved);
        applyEvent(players, event);
      }
      position = next;
    }
    for (const name of [...names, 'later']) {
      const answer = await fetch(`${node.adminUrl}/v1/players/${name}`);
      const { balance } = (await answer.json()) as { balance: number };
      assert.equal(players.get(name)?.balance, String(balance), name);
      assert.equal(sums.get(name), balance, name);
    }
  });
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { bet, importPlayers, PlatformClient, settlement } from '../support/client.js';
import { ConsoleBrowser } from '../support/console-browser.js';
import { TestCluster } from '../support/test-cluster.js';
import { until } from '../support/until.js';

/** Enough players for each node to have some. */
const PLAYERS = ['ann', 'bob', 'cid', 'dan', 'eve', 'fay'];

interface Seen {
  readonly nodes: readonly { readonly name: string; readonly state: string; readonly shards: number }[];
  readonly shards: readonly { readonly shard: number; readonly owner: string | null }[];
}

describe('the console of a three-node cluster', () => {
  let cluster: TestCluster;
  let browser: ConsoleBrowser;

  before(async () => {
    // Start the nodes one at a time. Connecting to three starting nodes at once would exceed deadlines.
    cluster = await TestCluster.start(3);
    browser = await ConsoleBrowser.start();
    await until('every shard has an owner', async () => (await seen()).shards.every(({ owner }) => owner !== null));
    await importPlayers(adminUrl(), PLAYERS, 100);
    const platform = new PlatformClient(cluster.nodes[0]?.callbackUrl ?? '');
    for (const name of PLAYERS) {
      await platform.post('placeBets', bet(name, `bet-of-${name}`, 10.25));
      await platform.post('settleBets', settlement(name, `bet-of-${name}`, 20.5));
    }
    platform.close();
  });
  after(async () => {
    await browser.close();
    await cluster.close();
  });

  const adminUrl = () => cluster.nodes[0]?.adminUrl ?? '';
  const seen = async () => (await (await fetch(`${adminUrl()}/v1/cluster`)).json()) as Seen;

  test('nodes and shard owners are shown in both colour schemes and on a phone', async () => {
    for (const options of [{}, { colorScheme: 'dark' }, { viewport: { width: 390, height: 844 } }] as const) {
      const visit = await browser.open(adminUrl(), options);
      await visit.goTo('cluster');
      await visit.waitForText('node-0 (this node)');
      await visit.checkAccessibility();
      assert.equal(await visit.page.locator('.grid .cell').count(), (await seen()).shards.length);
      assert.equal(await visit.page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
      await visit.end();
    }
  });

  test('a shard moves to the chosen node', async () => {
    const { nodes, shards } = await seen();
    const shard = shards[0]?.shard;
    const to = nodes.find(({ name }) => name !== shards[0]?.owner)?.name ?? '';
    const visit = await browser.open(adminUrl());
    await visit.goTo('cluster');
    await visit.page.getByRole('button', { name: `Shard ${shard}:` }).click();
    await visit.checkAccessibility();
    await visit.page.getByLabel('New owner').selectOption(to);
    await visit.page.getByRole('dialog').getByRole('button', { name: 'Move' }).click();
    await visit.page.getByRole('button', { name: `Shard ${shard}: owner ${to}` }).waitFor();
    await visit.page
      .getByRole('cell', { name: `shard ${shard} was moved by an operator` })
      .first()
      .waitFor();
    await visit.checkAccessibility();
    await visit.end();
  });

  test('a node is drained and undrained', async () => {
    const visit = await browser.open(adminUrl());
    await visit.goTo('cluster');
    // Search only the table of nodes, because the tables of shards and moves also contain node names.
    const nodes = visit.page.getByRole('region', { name: 'Nodes', exact: true });
    const row = nodes.getByRole('row', { name: 'node-2' });
    await row.getByRole('button', { name: 'Drain' }).click();
    await visit.page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
    await row.locator('.badge.draining').waitFor();
    await until('it has none', async () => !(await seen()).shards.some(({ owner }) => owner === 'node-2'));
    await row.getByRole('button', { name: 'Undrain' }).click();
    await visit.page.getByRole('dialog').getByRole('button', { name: 'Undrain' }).click();
    await row.locator('.badge.up').waitFor();
    await visit.end();
  });

  test('any node finds an id in memory and in the log', async () => {
    const visit = await browser.open(adminUrl());
    const { page } = visit;
    for (const name of PLAYERS) {
      await visit.goTo(`find?id=bet-of-${name}`);
      await page.getByRole('row', { name: 'memory' }).getByRole('link', { name, exact: true }).waitFor();
    }
    const log = page.getByRole('region', { name: 'Log', exact: true });
    await log.getByRole('button', { name: 'Search' }).click();
    await log.getByRole('button', { name: 'Search again' }).waitFor();
    // Wait for the search result, which is the last player's bet.
    await page.getByRole('row', { name: 'Bet placed' }).getByRole('link', { name: 'fay', exact: true }).waitFor();
    await visit.checkAccessibility();
    await visit.end();
  });

  test("any node shows a player's rounds with request ids from the log", async () => {
    for (const name of PLAYERS) {
      const visit = await browser.open(adminUrl());
      const { page } = visit;
      await visit.goTo(`player?name=${name}&show=rounds`);
      const settled = page.getByRole('row', { name: 'bet settled' });
      await settled.getByRole('cell', { name: '110.25', exact: true }).waitFor();
      await page.getByRole('button', { name: 'Search' }).click();
      await settled.getByRole('cell', { name: `s-bet-of-${name}`, exact: true }).waitFor();
      await visit.end();
    }
  });

  test('the overview names its node and the owner of each shard', async () => {
    const visit = await browser.open(adminUrl());
    await visit.goTo('');
    await visit.page.getByRole('columnheader', { name: 'Owner' }).waitFor();
    await visit.page.getByRole('heading', { name: 'Overview node-0' }).waitFor();
    await visit.checkAccessibility();
    await visit.end();
  });
});

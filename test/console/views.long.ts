import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { bet, importPlayers, PlatformClient, settlement } from '../support/client.js';
import { ConsoleBrowser } from '../support/console-browser.js';
import { IS_NIGHTLY } from '../support/nightly.js';
import { TestNode } from '../support/test-node.js';

const SCRIPT = '<script>document.title="broken"</script><img src=x onerror=alert(1)>';

describe('the views of the console', () => {
  let node: TestNode;
  let browser: ConsoleBrowser;
  let platform: PlatformClient;

  before(async () => {
    [node, browser] = await Promise.all([TestNode.start(), ConsoleBrowser.start()]);
    platform = new PlatformClient(node.callbackUrl);
    await importPlayers(node.adminUrl, ['ann', SCRIPT, 'many-1'], 100);
    await platform.post('placeBets', { ...bet('ann', 'bet-of-it', 1), productId: '<i>of a game</i>' });
    for (let n = 0; n < 3; n++) await platform.post('placeBets', bet('ann', `bet-${n}`, 10.25));
    await platform.post('settleBets', settlement('ann', 'bet-0', 20.5));
  });

  after(async () => {
    platform.close();
    await browser.close();
    await node.close();
  });

  const VIEWS: readonly (readonly [path: string, text: string | RegExp])[] = [
    ['', 'Nothing is wrong.'],
    ['players', 'many-1'],
    ['players?prefix=nobody-at-all', /No player name begins/],
    ['player?name=ann', 'bet-2'],
    ['player?name=ann&show=operations', 'import'],
    ['player?name=ann&show=rounds', 'bet settled'],
    ['player?name=many-1&show=rounds', 'No rounds yet'],
    [`player?name=${encodeURIComponent(SCRIPT)}`, 'No bets yet'],
    ['player?name=nobody', 'No player has this name.'],
    ['find', 'Find an ID'],
    ['find?id=r-bet-1', 'round'],
    [`find?id=${encodeURIComponent(SCRIPT)}`, 'No match in memory.'],
    ['hanging?older=0', 'bet-2'],
    ['hanging?older=720', 'No hanging bets match.'],
    [`hanging?older=0&product=${encodeURIComponent('<i>of a game</i>')}`, 'bet-of-it'],
    ['hanging?older=0&product=none', 'Product names are case-sensitive.'],
    ['money', 'No verification has run since this node started.'],
    ['money?days=1&currency=EUR', 'No money moved in this period.'],
    ['products', '<i>of a game</i>'],
    ['import', 'A file with one player per line'],
    ['snapshots', 'Newest snapshots on this node'],
    ['feeds', 'No feeds yet.'],
    ['cluster', 'This node runs alone'],
    ['audit', 'many-1'],
    ['audit?by=nobody', 'No matching operations.'],
    ['audit?type=import&player=ann&from=2020-01-01', 'import'],
    ['settings', 'Changed settings'],
    ['settings?show=all', 'retention.transactions'],
    ['no-such-view', 'The console has no page'],
  ];

  test('every view has its own address and is accessible', async () => {
    const visit = await browser.open(node.adminUrl);
    for (const [path, text] of VIEWS) {
      await visit.goTo(path);
      await visit.waitForText(text);
      await visit.checkAccessibility();
    }
    // Allow 404, which the API answers without the player or a cluster, and which the browser logs.
    await visit.end(/status of 404/);
  });

  /** Views that together contain cards, tables, states, amounts and forms. */
  const DARK = ['', 'players', 'player?name=ann&show=rounds', 'money', 'products', 'import', 'settings?show=all'];

  test('views have enough contrast in dark mode', async () => {
    const visit = await browser.open(node.adminUrl, { colorScheme: 'dark' });
    for (const [path, text] of VIEWS.filter(([path]) => IS_NIGHTLY || DARK.includes(path))) {
      await visit.goTo(path);
      await visit.waitForText(text);
      await visit.checkAccessibility(['color-contrast']);
    }
    await visit.end(/status of 404/);
  });

  test('a view fits a phone', async () => {
    const visit = await browser.open(node.adminUrl, { viewport: { width: 390, height: 844 }, hasTouch: true });
    for (const [path, text] of VIEWS) {
      await visit.goTo(path);
      await visit.waitForText(text);
      const width = await visit.page.evaluate('document.documentElement.scrollWidth');
      assert.equal(width, 390, `${path} does not scroll sideways`);
    }
    await visit.end(/status of 404/);
  });

  test('on a phone the views are in a menu, which closes after a choice', async () => {
    const visit = await browser.open(node.adminUrl, { viewport: { width: 390, height: 844 }, hasTouch: true });
    await visit.goTo('find');
    const { page } = visit;
    const views = page.getByRole('navigation', { name: 'Views' });
    await page.getByRole('button', { name: 'Find', expanded: false }).click();
    await views.waitFor();
    await visit.checkAccessibility();
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390);
    await views.getByRole('link', { name: 'Players' }).click();
    await page.getByRole('heading', { name: 'Players', level: 1 }).waitFor();
    await views.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Players', expanded: false }).waitFor();
    await visit.end();
  });
});

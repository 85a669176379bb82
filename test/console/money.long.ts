import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { bet, importPlayers, PlatformClient, settlement } from '../support/client.js';
import { ConsoleBrowser } from '../support/console-browser.js';
import { TestNode } from '../support/test-node.js';

const AUDITOR = 'a-token-of-the-auditor';
const ANNA = 'a-token-of-anna-alone';

describe('the money view of the console', () => {
  let node: TestNode;
  let browser: ConsoleBrowser;
  let platform: PlatformClient;

  before(async () => {
    const tokens = [
      { name: '<b>anna</b>', role: 'operate', token: ANNA },
      { name: 'auditor', role: 'read', token: AUDITOR },
    ];
    [node, browser] = await Promise.all([TestNode.start(), ConsoleBrowser.start()]);
    await importPlayers(node.adminUrl, ['ann', 'bob'], 100.25);
    platform = new PlatformClient(node.callbackUrl);
    await platform.post('placeBets', bet('ann', 'bet-1', 10.5));
    await platform.post('settleBets', settlement('ann', 'bet-1', 25));
    await node.restart({ 'admin.tokens': tokens });
  });
  after(async () => {
    platform.close();
    await browser.close();
    await node.close();
  });

  test('a verification shows its result on every page, with exact books', async () => {
    const [visit, other] = [await browser.open(node.adminUrl), await browser.open(node.adminUrl)];
    for (const [one, token] of [
      [visit, ANNA],
      [other, AUDITOR],
    ] as const) {
      await one.goTo('money');
      await one.signIn(token);
      await one.waitForText('No verification has run since this node started.');
    }
    await visit.page.getByLabel('from the oldest entry').check();
    await visit.page.getByRole('button', { name: 'Verify the store now' }).click();
    await visit.waitForText('No differences found.');
    await other.page.reload();
    await other.waitForText('No differences found.');
    const line = async (name: string) =>
      await visit.page
        .getByRole('region', { name: 'Books of the last verification' })
        .getByRole('row', { name })
        .getByRole('cell')
        .last()
        .textContent();
    assert.deepEqual(
      [await line('Deposits'), await line('Stakes'), await line('Payouts'), await line('Difference')],
      ['200.50', '-10.50', '25.00', '0.00'],
    );
    await visit.waitForText('started by <b>anna</b>');
    await visit.checkAccessibility();
    assert.equal(await other.page.getByRole('button', { name: 'Verify' }).count(), 0);
    const harmless = ['Sign out', 'Copy CSV', 'Refresh'];
    const buttons = await other.page.getByRole('button').allTextContents();
    assert.deepEqual(
      buttons.filter((text) => !harmless.includes(text)),
      [],
    );
    await visit.end(/status of 401/);
    await other.end(/status of 401/);
  });

  test('money is listed by day, currency and kind, filtered as the address specifies', async () => {
    const visit = await browser.open(node.adminUrl);
    await visit.goTo('money?days=35');
    await visit.signIn(AUDITOR);
    const days = visit.page.getByRole('region', { name: 'By day, currency and kind' });
    const stakes = days.getByRole('row', { name: 'Stakes' }).getByRole('cell');
    await stakes.first().waitFor();
    assert.deepEqual((await stakes.allTextContents()).slice(1), ['THB', 'Stakes', '0.00', '10.50', '-10.50']);
    await visit.page.getByLabel('Currency', { exact: true }).selectOption('THB');
    await visit.page.waitForURL(/money\?days=35&currency=THB$/);
    await visit.goTo('money?days=35&currency=EUR');
    await visit.waitForText('No money moved in this period.');
    await visit.page.route('**/v1/money?*', (route) =>
      route.fulfill({ json: { sinceMillis: 1_795_000_000_000, isWhole: false, shardsLeftOut: 1, days: [] } }),
    );
    await visit.page.getByRole('button', { name: 'Refresh' }).click();
    await visit.waitForText('1 shard does not answer');
    await visit.waitForText('there are more currencies or products than walletd counts');
    await visit.waitForText('2026-11-18 11:06:40 UTC');
    await visit.checkAccessibility();
    await visit.end(/status of 401/);
  });

  test('differences are explained in words, and a failed verification shows its reason', async () => {
    const visit = await browser.open(node.adminUrl, { viewport: { width: 390, height: 844 } });
    await visit.goTo('money');
    await visit.signIn(AUDITOR);
    await visit.waitForText('Books');
    const last = { startedMillis: 1_795_000_000_000, endedMillis: 1_795_000_065_000, by: { name: 'x', address: 'y' } };
    const sums = { opening: 0, deposits: 10, balances: 11, difference: 1 };
    const lines = ['withdrawals', 'corrections', 'stakes', 'payouts', 'adjustments', 'refunds', 'voids', 'tips'];
    const rest = [...lines, 'tip-refunds', 'rewards', 'movements', 'rollbacks'].map((name) => [name, 0] as const);
    const finding = { type: 'books', message: 'THB: the balances are 1 more than the books explain' };
    const report = {
      ...{ entries: 3, events: 2, players: 1, snapshots: 0, compared: 1, movedOn: 0, accepted: [], currencies: 1 },
      ...{ books: [{ currency: 'THB', players: 1, ...Object.fromEntries(rest), ...sums }] },
      ...{ found: 23, findings: [finding] },
    };
    const tell = async (what: object) => {
      const answer = { running: null, last: { ...last, deep: true, failure: null, report: null, ...what } };
      await visit.page.unrouteAll();
      await visit.page.route('**/v1/verify', (route) => route.fulfill({ json: answer }));
      await visit.goTo('money');
    };
    await tell({ report });
    await visit.waitForText('23 differences found.');
    await visit.waitForText(finding.message);
    await visit.waitForText('And 22 more of the same kinds');
    await visit.checkAccessibility();
    assert.equal(await visit.page.evaluate('document.documentElement.scrollWidth'), 390);
    await visit.page.unrouteAll();
    const begun = { startedMillis: last.startedMillis, by: last.by, deep: false, done: 500, total: 2000 };
    await visit.page.route('**/v1/verify', (route) => route.fulfill({ json: { running: begun, last: null } }));
    await visit.goTo('money');
    await visit.waitForText('500 of 2,000 entries of the log');
    assert.equal(await visit.page.getByRole('progressbar').getAttribute('value'), '500');
    await visit.checkAccessibility();
    await tell({ failure: 'the store does not answer' });
    await visit.waitForText('The store could not be verified. The store does not answer');
    await visit.page.unrouteAll();
    await visit.page.route('**/v1/verify', (route) => route.abort());
    await visit.goTo('money');
    await visit.waitForText('walletd does not answer.');
    await visit.page.unrouteAll();
    await visit.page.getByRole('button', { name: 'Try again' }).click();
    await visit.page.getByText('Books of the last verification').waitFor();
    await visit.end(/status of 401|ERR_FAILED/);
  });
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { importPlayers } from '../support/client.js';
import { ConsoleBrowser } from '../support/console-browser.js';
import { TestNode } from '../support/test-node.js';

const SCRIPT = '<script>document.title="broken"</script>';
/** Number of operations, too many for one page. */
const MANY = 130;

describe("the console's audit view", () => {
  let node: TestNode;
  let browser: ConsoleBrowser;

  before(async () => {
    [node, browser] = await Promise.all([TestNode.start(), ConsoleBrowser.start()]);
    const names = Array.from({ length: MANY }, (_, n) => `p${n}`);
    await importPlayers(node.adminUrl, [...names, SCRIPT], 100);
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify({ id: 'c', amount: -0.0001, reason: SCRIPT });
    await fetch(`${node.adminUrl}/v1/players/p7/corrections`, { method: 'POST', headers, body });
    await fetch(`${node.adminUrl}/v1/players/p8/block`, { method: 'POST' });
  });
  after(async () => {
    await browser.close();
    await node.close();
  });

  test('the audit lists all operations page by page and shows hostile names as text', async () => {
    const visit = await browser.open(node.adminUrl);
    await visit.goTo('audit');
    const rows = visit.page.locator('tbody tr');
    await rows.first().waitFor();
    assert.equal(await rows.count(), 100);
    assert.match((await rows.first().textContent()) ?? '', /Blocked/);
    await visit.page.getByRole('cell', { name: SCRIPT }).first().waitFor();
    await visit.page.getByRole('button', { name: 'Show more' }).click();
    await rows.nth(MANY + 2).waitFor();
    assert.equal(await rows.count(), MANY + 3);
    await visit.checkAccessibility();
    await visit.end();
  });

  test('the address holds the filter, and a shared address shows the same rows', async () => {
    const visit = await browser.open(node.adminUrl);
    await visit.goTo('audit');
    const { page } = visit;
    const rows = page.locator('tbody tr');
    await rows.first().waitFor();
    await page.getByLabel('Operation', { exact: true }).selectOption('correction');
    // Wait for the filtered answer, which removes the other rows.
    await rows.nth(1).waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: '-0.0001' }).waitFor();
    assert.equal(await rows.count(), 1);
    await page.getByLabel('Player').fill('p8');
    await page.keyboard.press('Enter');
    await visit.waitForText('No matching operations.');
    assert.match(page.url(), /audit\?type=correction&player=p8$/);
    const today = new Date().toISOString().slice(0, 10);
    await visit.goTo(`audit?by=local&player=p8&type=block&to=${today}`);
    await page.getByRole('cell', { name: 'block' }).waitFor();
    assert.equal(await page.getByLabel('Operator').inputValue(), 'local');
    await page.getByLabel('From (UTC)').fill('2099-01-01');
    await visit.waitForText('No matching operations.');
    await visit.end();
  });

  test('a failed call is reported and can be repeated', async () => {
    const visit = await browser.open(node.adminUrl);
    const { page } = visit;
    for (const [path, call, text] of [
      ['audit', '**/v1/operations?*', 'Show more'],
      ['settings', '**/v1/settings', 'admin.port'],
      ['snapshots', '**/v1/snapshots', /No snapshots yet|Snapshots in the store/],
    ] as const) {
      await page.route(call, (route) => route.abort('connectionrefused'));
      await visit.goTo(path);
      await visit.waitForText('walletd does not answer.');
      await visit.checkAccessibility();
      await page.unroute(call);
      await page.getByRole('button', { name: 'Try again' }).click();
      await visit.waitForText(text);
    }
    await visit.end(/ERR_CONNECTION_REFUSED/);
  });
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { bet, importPlayers, PlatformClient, settlement } from '../support/client.js';
import { ConsoleBrowser, type Visit } from '../support/console-browser.js';
import { TestNode } from '../support/test-node.js';

const SCRIPT = '<script>document.title="broken"</script><img src=x onerror=alert(1)>';
const RIGHT_TO_LEFT = '\u202Eمستخدم-12';
const LONG = 'x'.repeat(256);
const FORMULA = '=HYPERLINK("http://a.b")';
const HOSTILE = [SCRIPT, RIGHT_TO_LEFT, LONG, FORMULA, 'a/b?c#d&e=%2F', ' spaces '];
/** More digits than a double can hold exactly. */
const RICH = '9,007,199,254.7409';
const AT_ONCE = 3;
const MANY = Array.from({ length: 60 }, (_, n) => `many-${n}`);

async function balanceOf(node: TestNode, name: string): Promise<string> {
  const text = await (await fetch(`${node.adminUrl}/v1/players/${encodeURIComponent(name)}`)).text();
  return /"balance":([-\d.]+)/.exec(text)?.[1] ?? text;
}

async function deposit(node: TestNode, name: string, id: string, amount: string): Promise<void> {
  const body = `{"id":"${id}","amount":${amount}}`;
  const headers = { 'Content-Type': 'application/json' };
  await fetch(`${node.adminUrl}/v1/players/${name}/deposits`, { method: 'POST', headers, body });
}

const card = (visit: Visit, name: string) => visit.page.locator('.tile', { hasText: name }).locator('.figure');

describe('everyday work with the console', () => {
  let node: TestNode;
  let browser: ConsoleBrowser;
  let platform: PlatformClient;

  before(async () => {
    [node, browser] = await Promise.all([TestNode.start(), ConsoleBrowser.start()]);
    platform = new PlatformClient(node.callbackUrl);
    await importPlayers(node.adminUrl, ['ann', 'bob', 'rich', 'twice', 'blocked-one', ...HOSTILE, ...MANY], 100);
    await deposit(node, 'rich', 'rich', '9007199154.7409');
  });

  after(async () => {
    platform.close();
    await browser.close();
    await node.close();
  });

  test('the overview shows all shards, and callbacks as they arrive', async () => {
    const visit = await browser.open(node.adminUrl);
    await visit.goTo('');
    await visit.waitForText('Nothing is wrong.');
    let n = 0;
    const load = setInterval(() => void platform.post('placeBets', bet('bob', `load-${n++}`, 0.01)), 50);
    await visit.page.getByRole('cell', { name: 'placeBets' }).first().waitFor();
    clearInterval(load);
    assert.match((await card(visit, 'Callbacks').textContent()) ?? '', /^[\d.]+\/s$/);
    assert.equal(await card(visit, 'Store').textContent(), 'Up');
    const shards = visit.page.getByRole('region', { name: 'Shards' }).locator('tbody tr');
    const { shards: all } = (await (await fetch(`${node.adminUrl}/readyz`)).json()) as { shards: object[] };
    assert.equal(await shards.count(), all.length);
    await visit.end();
  });

  test('search finds players by prefix while typing, and the address keeps the prefix', async () => {
    const visit = await browser.open(node.adminUrl);
    await visit.goTo('players');
    await visit.waitForText('Show more');
    await visit.page.getByLabel('Name begins with').fill('ri');
    await visit.page.getByRole('link', { name: 'rich' }).waitFor();
    await visit.page.locator('tbody tr').nth(1).waitFor({ state: 'detached' });
    assert.match(visit.page.url(), /players\?prefix=ri$/);
    await visit.page.getByRole('link', { name: 'rich' }).click();
    await visit.page.getByRole('heading', { name: 'rich' }).waitFor();
    await visit.page.goBack();
    await visit.page.getByRole('link', { name: 'rich' }).waitFor();
    await visit.end();
  });

  test('several pages of a list are shown as one list', async () => {
    const visit = await browser.open(node.adminUrl);
    await visit.goTo('players?prefix=many-');
    await visit.page.getByRole('button', { name: 'Show more' }).click();
    const rows = visit.page.locator('tbody tr');
    await rows.nth(59).waitFor();
    assert.equal(await rows.count(), 60);
    await visit.end();
  });

  test('amounts are shown exactly to their last digit', async () => {
    const visit = await browser.open(node.adminUrl);
    await visit.goTo('player?name=rich');
    assert.equal(await card(visit, 'Balance').textContent(), `${RICH} THB`);
    assert.equal(await card(visit, 'Open bets').textContent(), '0');
    await visit.end();
  });

  test('hostile names are shown as text, and their links work', async () => {
    const visit = await browser.open(node.adminUrl);
    for (const name of HOSTILE) {
      await visit.goTo(`players?prefix=${encodeURIComponent(name)}`);
      // A name and its address keep all spaces, even though a page displays several spaces as one.
      const link = visit.page.locator('td a.name');
      await link.waitFor();
      assert.equal(await link.textContent(), name);
      await link.click();
      await visit.page.getByRole('button', { name: 'Deposit' }).waitFor();
      assert.equal(await visit.page.locator('h1').textContent(), name);
    }
    await visit.goTo('player?name=..');
    await visit.waitForText('A browser cannot request the name');
    await visit.end();
  });

  test('a table is copied as CSV without formulas', async () => {
    const visit = await browser.open(node.adminUrl, { permissions: ['clipboard-read', 'clipboard-write'] });
    await visit.goTo(`players?prefix=${encodeURIComponent('=')}`);
    await visit.page.getByRole('button', { name: 'Copy CSV' }).click();
    await visit.waitForText('Copied');
    const text = await visit.page.evaluate('navigator.clipboard.readText()');
    const wanted = 'Player,Balance,Currency,Status\r\n"\'=HYPERLINK(""http://a.b"")",100,THB,active\r\n';
    assert.equal(String(text).replaceAll('\r\n', '\n'), wanted.replaceAll('\r\n', '\n'));
    await visit.end();
  });

  test('a deposit is reviewed and confirmed, and repeated clicks move money once', async () => {
    const visit = await browser.open(node.adminUrl);
    await visit.goTo('player?name=twice');
    await visit.page.getByRole('button', { name: 'Deposit' }).click();
    await visit.checkAccessibility();
    await visit.page.getByLabel('Amount in THB').fill('12.5');
    await visit.page.getByRole('button', { name: 'Review' }).click();
    assert.equal(await balanceOf(node, 'twice'), '100', 'nothing moves before it is confirmed');
    await visit.checkAccessibility();
    await visit.page.getByRole('button', { name: 'Deposit 12.50 THB' }).evaluate((button: { click(): void }, times) => {
      for (let n = 0; n < times; n++) button.click();
    }, AT_ONCE);
    await visit.waitForText('Done and stored durably.');
    await visit.checkAccessibility();
    assert.equal(await balanceOf(node, 'twice'), '112.5');
    await visit.page.getByRole('button', { name: 'Close' }).click();
    await visit.page.locator('.figure', { hasText: '112.50 THB' }).waitFor();
    await visit.end();
  });

  test('a lost answer is reported as uncertain, and resending moves money once', async () => {
    const visit = await browser.open(node.adminUrl);
    await visit.goTo('player?name=many-1');
    let sent = 0;
    await visit.page.route('**/deposits', async (route) => {
      sent++;
      if (sent > 1) return await route.continue();
      // Let walletd execute the request, but lose the answer.
      await route.fetch();
      await route.abort('connectionreset');
    });
    await visit.page.getByRole('button', { name: 'Deposit' }).click();
    await visit.page.getByLabel('Amount in THB').fill('5');
    await visit.page.getByRole('button', { name: 'Review' }).click();
    await visit.page.getByRole('button', { name: 'Deposit 5.00 THB' }).click();
    await visit.waitForText('The outcome is unknown.');
    await visit.page.getByRole('button', { name: 'Send again' }).click();
    await visit.waitForText('Done and stored durably.');
    assert.equal(sent, 2);
    assert.equal(await balanceOf(node, 'many-1'), '105');
    await visit.end(/ERR_CONNECTION_RESET/);
  });

  test('a withdrawal above the balance is refused with an explanation', async () => {
    const visit = await browser.open(node.adminUrl);
    await visit.goTo('player?name=bob');
    await visit.page.getByRole('button', { name: 'Withdraw' }).click();
    await visit.page.getByLabel('Amount in THB').fill('100000');
    await visit.page.getByRole('button', { name: 'Review' }).click();
    await visit.page.getByRole('button', { name: 'Withdraw 100,000.00 THB' }).click();
    await visit.waitForText('the balance does not cover the debit');
    await visit.end(/status of 409/);
  });

  test('a correction keeps its reason as text and appears in the list of operations', async () => {
    const visit = await browser.open(node.adminUrl);
    await visit.goTo('player?name=many-2');
    await visit.page.getByRole('button', { name: 'Correct' }).click();
    await visit.page.getByLabel('Amount in THB').fill('-0.0001');
    await visit.page.getByLabel('Reason (kept permanently)').fill(SCRIPT);
    await visit.page.getByRole('button', { name: 'Review' }).click();
    await visit.page.getByRole('button', { name: 'Correct by -0.0001 THB' }).click();
    await visit.waitForText('Done and stored durably.');
    await visit.page.getByRole('button', { name: 'Close' }).click();
    await visit.page.getByRole('link', { name: 'Operations' }).click();
    await visit.page.getByRole('cell', { name: SCRIPT }).waitFor();
    await visit.page.getByRole('cell', { name: '99.9999' }).waitFor();
    await visit.end();
  });

  test('a player is blocked and unblocked', async () => {
    const visit = await browser.open(node.adminUrl);
    await visit.goTo('player?name=blocked-one');
    const { page } = visit;
    await page.getByRole('button', { name: 'Block' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Block' }).click();
    await page.locator('.badge.blocked').waitFor();
    await page.getByRole('button', { name: 'Unblock' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Unblock' }).click();
    await page.locator('.badge.active').waitFor();
    await visit.end();
  });

  test('an id leads to its player, through memory or, on demand, the log', async () => {
    await platform.post('placeBets', bet('bob', SCRIPT, 1));
    const visit = await browser.open(node.adminUrl);
    const { page } = visit;
    await visit.goTo('find');
    await page.getByLabel('ID', { exact: true }).fill(SCRIPT);
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'memory' }).waitFor();
    assert.match(page.url(), /find\?id=%3Cscript/);
    await page.getByRole('region', { name: 'Log' }).getByRole('button', { name: 'Search' }).click();
    await page.getByRole('cell', { name: 'Bet placed' }).waitFor();
    await visit.checkAccessibility();
    await page.getByRole('link', { name: 'bob' }).first().click();
    await page.getByRole('heading', { name: 'bob' }).waitFor();
    await visit.end();
  });

  test('rounds are shown message by message, with request ids from the log', async () => {
    await platform.post('placeBets', bet('many-4', SCRIPT, 10.25));
    await platform.post('settleBets', settlement('many-4', SCRIPT, 20.5));
    const visit = await browser.open(node.adminUrl);
    const { page } = visit;
    await visit.goTo('player?name=many-4&show=rounds');
    const cells = async (row: number) => await page.locator('tbody tr').nth(row).locator('td').allTextContents();
    await page.getByRole('cell', { name: 'bet settled' }).waitFor();
    assert.deepEqual((await cells(0)).toSpliced(2, 1), [
      `r-${SCRIPT} `,
      'P',
      'Bet placed',
      SCRIPT,
      '10.25',
      '100.00',
      '89.75',
      '–',
    ]);
    assert.deepEqual((await cells(1)).toSpliced(2, 1), [
      '',
      '',
      'Bet settled',
      SCRIPT,
      '20.50',
      '89.75',
      '110.25',
      '–',
    ]);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('button', { name: 'Search again' }).waitFor();
    await page.getByRole('columnheader', { name: 'Entry' }).waitFor();
    assert.deepEqual([(await cells(0))[8], (await cells(1))[8]], [`q-${SCRIPT}`, `s-${SCRIPT}`]);
    await visit.checkAccessibility();
    await visit.end();
  });

  test('a search can be stopped, and it reports refusals and lost connections', async () => {
    const visit = await browser.open(node.adminUrl);
    const { page } = visit;
    await page.route('**/v1/find?*in=log', () => {});
    await visit.goTo('find?id=nothing');
    const log = page.getByRole('region', { name: 'Log' });
    await log.getByRole('button', { name: 'Search' }).click();
    await log.getByRole('progressbar').waitFor();
    await visit.checkAccessibility();
    await log.getByRole('button', { name: 'Stop' }).click();
    await log.getByText('Stopped at 0 %').waitFor();
    const refusal = { detail: 'this node is reading its store for another search' };
    await page.route('**/v1/find?*in=archive', (route) => route.fulfill({ status: 409, json: refusal }));
    const archive = page.getByRole('region', { name: 'Archive' });
    await archive.getByRole('button', { name: 'Search' }).click();
    await archive.getByText('This node is reading its store for another search').waitFor();
    await page.unroute('**/v1/find?*in=log');
    await page.route('**/v1/find?*in=log', (route) => route.abort('connectionreset'));
    await log.getByRole('button', { name: 'Search again' }).click();
    await log.getByText('walletd does not answer.').waitFor();
    await visit.checkAccessibility();
    await visit.end(/status of 409|ERR_CONNECTION_RESET/);
  });

  test('hanging bets are filtered by a suggested product, which the address keeps', async () => {
    await platform.post('placeBets', { ...bet('many-5', 'of-cards', 1), productId: 'CARDS' });
    await platform.post('placeBets', bet('many-5', 'of-another', 1));
    const visit = await browser.open(node.adminUrl);
    const { page } = visit;
    await visit.goTo('hanging?older=0');
    await page.getByRole('cell', { name: 'of-another', exact: true }).waitFor();
    await page.locator('datalist option[value="CARDS"]').waitFor({ state: 'attached' });
    await page.getByLabel('Product').fill('CARDS');
    await page.keyboard.press('Enter');
    await page.waitForURL(/hanging\?older=0&state=OPEN&product=CARDS$/);
    await page.getByRole('cell', { name: 'of-another', exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'of-cards', exact: true }).waitFor();
    assert.equal(await page.locator('tbody tr').count(), 1);
    await visit.end();
  });

  test('snapshots are taken and the results are shown', async () => {
    const visit = await browser.open(node.adminUrl);
    await visit.goTo('snapshots');
    await visit.page.getByRole('button', { name: 'Take snapshots now' }).click();
    await visit.waitForText('Taken just now');
    await visit.page.getByRole('cell', { name: 'taken' }).first().waitFor();
    await visit.page.getByRole('region', { name: 'Snapshots in the store' }).getByText('Complete').first().waitFor();
    await visit.waitForText('walletd cannot see backups');
    await visit.checkAccessibility();
    await visit.end();
  });

  test('the console can be used with the keyboard alone', async () => {
    const visit = await browser.open(node.adminUrl);
    await visit.goTo('player?name=many-3');
    const { page } = visit;
    await page.getByRole('button', { name: 'Deposit' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Amount in THB').waitFor();
    await page.keyboard.type('1');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Deposit 1.00 THB' }).focus();
    await page.keyboard.press('Enter');
    await visit.waitForText('Done and stored durably.');
    await page.keyboard.press('Escape');
    await page.locator('.figure', { hasText: '101.00 THB' }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await visit.end();
  });
});

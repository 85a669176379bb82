import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ConsoleBrowser, type Visit } from '../support/console-browser.js';
import { TestNode } from '../support/test-node.js';

const TOKENS = { anna: 'a-token-of-anna-alone', auditor: 'a-token-of-the-auditor' };
const SCRIPT = '<script>document.title="broken"</script>';
/** Number of lines, too many for one piece; see src/console/page/lines.ts. */
const MANY = 1200;

const line = (n: number | string, username: string, balance: string) =>
  `{"id":"open-${n}","username":${JSON.stringify(username)},"currency":"THB","balance":${balance}}`;
const figure = (visit: Visit, name: string) => visit.page.locator('.tile', { hasText: name }).locator('.figure');

describe('importing a file with the console', () => {
  let node: TestNode;
  let browser: ConsoleBrowser;

  before(async () => {
    const tokens = [
      { name: 'anna', role: 'operate', token: TOKENS.anna },
      { name: 'auditor', role: 'read', token: TOKENS.auditor },
    ];
    [node, browser] = await Promise.all([TestNode.start({ 'admin.tokens': tokens }), ConsoleBrowser.start()]);
  });
  after(async () => {
    await browser.close();
    await node.close();
  });

  const open = async (token: string) => {
    const visit = await browser.open(node.adminUrl);
    await visit.goTo('import');
    await visit.signIn(token);
    await visit.page.getByRole('heading', { name: 'Import players' }).waitFor();
    return visit;
  };
  const choose = async (visit: Visit, lines: readonly string[]) => {
    const buffer = Buffer.from(lines.join('\n'));
    await visit.page
      .getByLabel('File')
      .setInputFiles({ name: 'players.ndjson', mimeType: 'application/x-ndjson', buffer });
    await visit.waitForText('First lines');
  };
  const balanceOf = async (username: string) => {
    const headers = { Authorization: `Bearer ${TOKENS.auditor}` };
    const text = await (await fetch(`${node.adminUrl}/v1/players/${encodeURIComponent(username)}`, { headers })).text();
    return /"balance":([-\d.]+)/.exec(text)?.[1];
  };

  test('a file is previewed, imported once despite a double click, and skipped when repeated', async () => {
    const visit = await open(TOKENS.anna);
    await choose(visit, [line('ann', 'ann', '9007199254.7409'), line('script', SCRIPT, '1')]);
    await visit.page.getByRole('cell', { name: '9,007,199,254.7409' }).waitFor();
    await visit.page.getByRole('cell', { name: SCRIPT }).waitFor();
    await visit.checkAccessibility();
    await visit.page.getByRole('button', { name: 'Import this file' }).dblclick();
    await visit.waitForText('has been imported completely');
    assert.deepEqual(await figure(visit, 'Created').allTextContents(), ['2']);
    assert.deepEqual(await figure(visit, 'Skipped').allTextContents(), ['0']);
    assert.equal(await balanceOf('ann'), '9007199254.7409');
    assert.equal(await balanceOf(SCRIPT), '1');
    await visit.checkAccessibility();
    await visit.page.getByRole('link', { name: 'Players' }).click();
    await visit.page.getByRole('link', { name: 'Import' }).click();
    await choose(visit, [line('ann', 'ann', '9007199254.7409'), line('script', SCRIPT, '1')]);
    await visit.page.getByRole('button', { name: 'Import this file' }).click();
    await visit.waitForText('has been imported completely');
    assert.deepEqual(await figure(visit, 'Skipped').allTextContents(), ['2']);
    await visit.end(/status of 401/);
  });

  test('refused lines are listed by their line numbers in the file', async () => {
    const visit = await open(TOKENS.anna);
    const lines = Array.from({ length: MANY }, (_, n) => line(n, `many-${n}`, '5'));
    lines[2] = '';
    lines[700] = 'not JSON';
    lines[1100] = line('none', 'none', '-1');
    lines[1150] = `{"id":"long","username":"${'x'.repeat(100_000)}"}`;
    await choose(visit, lines);
    await visit.page.getByRole('button', { name: 'Import this file' }).click();
    await visit.waitForText('has been imported completely');
    assert.deepEqual(await figure(visit, 'Created').allTextContents(), ['1,196']);
    const refused = visit.page.getByRole('region', { name: 'Refused lines' }).locator('tbody tr');
    const numbers = await refused.locator('td:first-child').allTextContents();
    assert.deepEqual(numbers, ['701', '1101', '1151']);
    assert.match((await refused.first().textContent()) ?? '', /the line is not JSON/);
    assert.match((await refused.nth(1).textContent()) ?? '', /balance must be .*none.*open-none/);
    assert.match((await refused.last().textContent()) ?? '', /a line may have at most 16384 bytes/);
    assert.equal(await balanceOf('many-1199'), '5');
    await visit.checkAccessibility();
    await visit.end(/status of 401/);
  });

  test('a lost answer pauses the import, and resuming creates nothing twice', async () => {
    const visit = await open(TOKENS.anna);
    let sent = 0;
    await visit.page.route('**/v1/players:import', async (route) => {
      sent++;
      if (sent !== 2) return await route.continue();
      // Let walletd execute the request, but lose the answer.
      await route.fetch();
      await route.abort('connectionreset');
    });
    await choose(
      visit,
      Array.from({ length: MANY }, (_, n) => line(`lost-${n}`, `lost-${n}`, '7')),
    );
    await visit.page.getByRole('button', { name: 'Import this file' }).click();
    await visit.waitForText('walletd does not answer.');
    await visit.page.getByRole('button', { name: 'Resume' }).click();
    await visit.waitForText('has been imported completely');
    assert.deepEqual(await figure(visit, 'Created').allTextContents(), ['700']);
    assert.deepEqual(await figure(visit, 'Skipped').allTextContents(), ['500']);
    assert.deepEqual(await figure(visit, 'Refused').allTextContents(), ['0']);
    assert.equal(await balanceOf('lost-600'), '7');
    await visit.end(/status of 401|ERR_CONNECTION_RESET/);
  });

  test('the role read sees no file field, and a stopped import resumes', async () => {
    const reader = await open(TOKENS.auditor);
    await reader.waitForText('The role “read” cannot import players.');
    assert.equal(await reader.page.getByLabel('File').count(), 0);
    await reader.end(/status of 401/);
    const visit = await open(TOKENS.anna);
    const { page } = visit;
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/v1/players:import', async (route) => {
      await held;
      await route.continue();
    });
    await choose(
      visit,
      Array.from({ length: MANY }, (_, n) => line(`stop-${n}`, `stop-${n}`, '7')),
    );
    await page.getByRole('button', { name: 'Import this file' }).click();
    await page.getByRole('button', { name: 'Stop' }).click();
    release();
    await visit.waitForText('Stopped. Created players stay.');
    assert.deepEqual(await figure(visit, 'Created').allTextContents(), ['500']);
    await page.getByRole('button', { name: 'Resume' }).click();
    await visit.waitForText('has been imported completely');
    assert.deepEqual(await figure(visit, 'Created').allTextContents(), ['1,200']);
    await visit.end(/status of 401/);
  });
});

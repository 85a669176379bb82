import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ConsoleBrowser } from '../support/console-browser.js';
import { TestNode } from '../support/test-node.js';

const TOKENS = { anna: 'a-token-of-anna-alone', auditor: 'a-token-of-the-auditor' };

/** Buttons that do not change anything on the server. */
const HARMLESS = ['Sign out', 'Copy CSV', 'Refresh', 'Show more', 'Keep searching'];

describe('the console with tokens', () => {
  let node: TestNode;
  let browser: ConsoleBrowser;
  const settings = {
    'admin.tokens': [
      { name: 'anna', role: 'operate', token: TOKENS.anna },
      { name: 'auditor', role: 'read', token: TOKENS.auditor },
    ],
  };

  before(async () => {
    [node, browser] = await Promise.all([TestNode.start(settings), ConsoleBrowser.start()]);
    const headers = { Authorization: `Bearer ${TOKENS.anna}`, 'Content-Type': 'application/json' };
    await fetch(`${node.adminUrl}/v1/players/ann`, { method: 'PUT', headers, body: '{"currency":"THB"}' });
  });

  after(async () => {
    await browser.close();
    await node.close();
  });

  test('a shared view opens after sign-in, and the page does not store the token', async () => {
    const visit = await browser.open(node.adminUrl);
    await visit.goTo('player?name=ann');
    await visit.checkAccessibility();
    await visit.signIn('wrong');
    await visit.waitForText('no operator has this token');
    await visit.signIn(TOKENS.anna);
    await visit.page.getByRole('heading', { name: 'ann' }).waitFor();
    const [cookie, ...others] = await visit.context.cookies();
    assert.deepEqual([cookie?.httpOnly, cookie?.sameSite, others.length], [true, 'Strict', 0]);
    const kept = await visit.page.evaluate(
      'JSON.stringify([localStorage, sessionStorage, document.cookie, document.documentElement.outerHTML])',
    );
    assert.ok(!String(kept).includes(TOKENS.anna));
    await visit.page.getByRole('button', { name: 'Block' }).click();
    await visit.page.getByRole('dialog').getByRole('button', { name: 'Block' }).click();
    await visit.page.locator('.badge.blocked').waitFor();
    await visit.page.getByRole('link', { name: 'Operations' }).click();
    await visit.page.getByRole('cell', { name: 'anna' }).first().waitFor();
    await visit.page.getByRole('button', { name: 'Sign out' }).click();
    await visit.page.getByRole('button', { name: 'Sign in' }).waitFor();
    assert.equal((await visit.context.cookies()).length, 0);
    await visit.end(/status of 401/);
  });

  test('the role read sees no button that changes anything', async () => {
    const visit = await browser.open(node.adminUrl);
    await visit.goTo('player?name=ann');
    await visit.signIn(TOKENS.auditor);
    await visit.page.getByRole('link', { name: 'Operations' }).waitFor();
    const buttons = async () => await visit.page.getByRole('button').allTextContents();
    assert.deepEqual(new Set(await buttons()), new Set(['Sign out', 'Refresh']));
    await visit.page.getByRole('link', { name: 'Find' }).click();
    await visit.page.getByLabel('ID', { exact: true }).fill('nothing');
    await visit.page.getByRole('button', { name: 'Find' }).click();
    await visit.waitForText('No match in memory.');
    assert.deepEqual(new Set(await buttons()), new Set(['Sign out', 'Find', 'Search', 'Search again']));
    await visit.page.getByRole('link', { name: 'Snapshots' }).click();
    await visit.waitForText('Newest snapshots on this node');
    assert.deepEqual(new Set(await buttons()), new Set(['Sign out', 'Copy CSV']));
    for (const path of ['', 'players', 'hanging', 'import', 'cluster', 'audit', 'settings?show=all', 'snapshots']) {
      await visit.goTo(path);
      await visit.waitUntilRead();
      const others = (await buttons()).filter((name) => !HARMLESS.includes(name));
      assert.deepEqual(others, [], path);
    }
    // Allow 404, which the API answers if there is no cluster, and which the browser logs.
    await visit.end(/status of (401|404)/);
  });

  test('an expired session is announced, and signing in returns to the same view', async () => {
    const visit = await browser.open(node.adminUrl);
    await visit.goTo('player?name=ann');
    await visit.signIn(TOKENS.anna);
    await visit.page.getByRole('link', { name: 'Operations' }).waitFor();
    await visit.context.clearCookies();
    await visit.page.getByRole('button', { name: 'Refresh' }).click();
    await visit.waitForText('Your session has ended.');
    await visit.signIn(TOKENS.anna);
    await visit.page.getByRole('heading', { name: 'ann' }).waitFor();
    await visit.end(/status of 401/);
  });

  test('an open page survives a server restart without a new sign-in', async () => {
    const { port } = new URL(node.adminUrl);
    const visit = await browser.open(node.adminUrl);
    await visit.goTo('');
    await visit.signIn(TOKENS.auditor);
    await visit.page.locator('.pulse.live').waitFor();
    // Start waiting for the text now, because the connection may recover before a later check.
    const lost = visit.waitForText('The page shows the last known state');
    await Promise.all([lost, node.restart({ 'admin.port': Number(port) })]);
    await visit.page.locator('.pulse.live').waitFor();
    assert.equal(await visit.page.getByRole('button', { name: 'Sign in' }).count(), 0);
    await visit.end(/status of 401|ERR_|status of 503/);
  });
});

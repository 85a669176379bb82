import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { HandAccount } from '../../src/admin/hand-account.js';
import { handWarnings } from '../../src/node/settings/hand-warning.js';
import { Scrape } from '../support/scrape.js';
import { settingsWith } from '../support/settings.js';
import { TestNode } from '../support/test-node.js';

const TOKENS = { anna: 'a-token-of-anna-alone', ben: 'a-token-of-ben-alone' };
const NO_APPROVALS = { approveAbove: {}, approvalHours: 24 };
type Name = keyof typeof TOKENS;

describe('limits on manual money movements', () => {
  let node: TestNode;
  let count = 0;
  const settings = {
    'admin.tokens': [
      { name: 'anna', role: 'operate', token: TOKENS.anna },
      { name: 'ben', role: 'operate', token: TOKENS.ben },
    ],
    'money.byHand': { amountMaxima: { THB: 100, IDR: 1 }, dayMaxima: { THB: 250 }, perMinute: null, ...NO_APPROVALS },
  };
  before(async () => {
    node = await TestNode.start(settings);
  });
  after(() => node.close());

  async function call(name: Name, method: string, path: string, body: unknown) {
    const isImport = path.endsWith(':import');
    const response = await fetch(node.adminUrl + path, {
      method,
      headers: {
        Authorization: `Bearer ${TOKENS[name]}`,
        'Content-Type': isImport ? 'application/x-ndjson' : 'application/json',
      },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, body: (isImport ? { text } : JSON.parse(text)) as Record<string, unknown> };
  }

  /** Creates a new player and returns its path. */
  async function newPlayer(currency = 'THB'): Promise<string> {
    const path = `/v1/players/p${count++}`;
    assert.equal((await call('ben', 'PUT', path, { currency })).status, 201);
    return path;
  }

  const deposit = (name: Name, player: string, amount: number, id = `d${count++}`) =>
    call(name, 'POST', `${player}/deposits`, { id, amount });

  /** Restarts without daily limits, which apply per operator and would add up across the tests. */
  const nextDay = () => node.restart({ 'money.byHand': { ...settings['money.byHand'], dayMaxima: {} } });

  test('the refusal of an operation names the exceeded limit, the remainder and the setting', async () => {
    const player = await newPlayer();
    const { status, body } = await deposit('ben', player, 100.0001);
    assert.deepEqual([status, body.code], [403, 'hand-amount-limit']);
    assert.equal(
      body.detail,
      'ben may move 100 THB by hand in one operation (money.byHand.amountMaxima), and this operation moves 100.0001 THB',
    );
    const correction = { id: 'c', amount: -100.5, reason: 'r', allowNegativeBalance: true };
    assert.equal((await call('ben', 'POST', `${player}/corrections`, correction)).status, 403);
    assert.equal((await deposit('ben', await newPlayer('VND'), 1e6)).status, 200);
    assert.equal(
      (await Scrape.of(node.adminUrl, { Authorization: `Bearer ${TOKENS.ben}` })).value('walletd_hand_limited_total', {
        limit: 'amount',
      }),
      2,
    );
  });

  test('200 concurrent deposits never exceed the daily total, even after restarts', async () => {
    const player = await newPlayer();
    const answers = await Promise.all(Array.from({ length: 200 }, () => deposit('anna', player, 1.5)));
    const done = answers.filter(({ status }) => status === 200).length;
    assert.equal(done, 166);
    const refused = answers.find(({ status }) => status === 403);
    assert.match(String(refused?.body.detail), /may move 250 THB .* of which 1 THB are left/);
    await node.restart(settings);
    assert.equal((await deposit('anna', player, 1.5)).status, 403);
    assert.equal((await deposit('anna', player, 1)).status, 200);
    assert.equal((await deposit('ben', player, 1.5)).status, 200, 'another operator has limits of their own');
  });

  test('a repeat gets its first answer even beyond all limits, marked as repeat', async () => {
    await nextDay();
    const player = await newPlayer();
    const first = await deposit('anna', player, 90, 'once');
    await node.restart({
      'money.byHand': { amountMaxima: { THB: 1 }, dayMaxima: { THB: 1 }, perMinute: 1, ...NO_APPROVALS },
    });
    const again = await deposit('anna', player, 90, 'once');
    assert.deepEqual(again, { status: 200, body: { ...first.body, repeated: true } });
    assert.equal((await deposit('anna', player, 89, 'once')).status, 409);
    assert.equal((await deposit('anna', player, 90, 'twice')).status, 403);
    await node.restart(settings);
  });

  test('refused movements do not count toward the limits', async () => {
    await node.restart({ 'money.byHand': { amountMaxima: {}, dayMaxima: { USD: 10 }, perMinute: 3, ...NO_APPROVALS } });
    const player = await newPlayer('USD');
    for (let i = 0; i < 5; i++) {
      const { status } = await call('anna', 'POST', `${player}/withdrawals`, { id: `w${i}`, amount: 9 });
      assert.equal(status, 409);
    }
    for (let i = 0; i < 3; i++) assert.equal((await deposit('anna', player, 3)).status, 200);
    assert.equal((await deposit('anna', player, 1)).status, 429);
    await node.restart(settings);
  });

  test('an import gives no more money than its operator may give', async () => {
    const lines = (username: string, balance: number) => ({ id: 'o', username, currency: 'IDR', balance });
    const answer = await call('anna', 'POST', '/v1/players:import', lines('rich', 2));
    assert.match(String(answer.body.text), /"result":"refused","reason":"anna may move 1 IDR by hand in one operation/);
    assert.match(String((await call('anna', 'POST', '/v1/players:import', lines('poor', 1))).body.text), /"created":1/);
    assert.match(String((await call('anna', 'POST', '/v1/players:import', lines('poor', 1))).body.text), /"skipped":1/);
  });

  test('without limits, startup and doctor print a warning', async () => {
    assert.equal(handWarnings(settingsWith()).length, 1);
    assert.equal(handWarnings(settingsWith(settings)).length, 0);
    assert.ok(!node.logLines.some(({ code }) => code === 'hand-unlimited'));
    await node.restart({ 'money.byHand': settingsWith().money.byHand });
    assert.ok(node.logLines.some(({ code, level }) => code === 'hand-unlimited' && level === 'warn'));
  });
});

test('reloaded totals include all operations done in the meantime', async () => {
  const account = new HandAccount(1);
  const move = (amount: number) => {
    account.begin('THB', amount, undefined);
    account.end('THB', amount, undefined, 'moved');
  };
  move(1);
  await account.load(async () => {
    move(2);
    account.begin('THB', 4, undefined);
    return new Map([['THB', 1n]]);
  });
  assert.equal(account.use('THB', 0).dayUnits, 7n);
});

test('an approval missing from reloaded totals counts when it is repeated', async () => {
  const account = new HandAccount(1);
  for (let i = 0; i < 2; i++) account.noteApproved('a', 'THB', -5);
  assert.equal(account.use('THB', 0).dayUnits, 5n);
  await account.load(async () => new Map([['THB', 0n]]));
  for (let i = 0; i < 2; i++) account.noteApproved('a', 'THB', -5);
  assert.equal(account.use('THB', 0).dayUnits, 5n);
});

test('operations of the last minute are counted, older ones are not', () => {
  const account = new HandAccount(1);
  for (const nowMs of [0, 1, 30_000]) account.begin('THB', 1, nowMs);
  account.end('THB', 1, 1, 'nothing');
  assert.equal(account.use('THB', 59_999).lastMinute, 2);
  assert.equal(account.use('THB', 60_000).lastMinute, 1);
});

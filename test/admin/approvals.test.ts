import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { handWarnings } from '../../src/node/settings/hand-warning.js';
import { WalletService } from '../../src/threads/wallet-service.js';
import { settingsWith } from '../support/settings.js';
import { TestNode } from '../support/test-node.js';

const TOKENS = { anna: 'a-token-of-anna-alone', ben: 'a-token-of-ben-alone', auditor: 'a-token-of-the-auditor' };
type Name = keyof typeof TOKENS;

describe('manual money movements that wait for a second operator', () => {
  let node: TestNode;
  let count = 0;
  const settings = {
    'admin.tokens': Object.entries(TOKENS).map(([name, token]) => ({
      name,
      role: name === 'auditor' ? 'read' : 'operate',
      token,
    })),
    'money.byHand': {
      amountMaxima: { THB: 1000 },
      dayMaxima: { THB: 2000 },
      perMinute: null,
      approveAbove: { THB: 100 },
      approvalHours: 1,
    },
  };
  before(async () => {
    node = await TestNode.start(settings);
  });
  after(() => node.close());

  async function call(name: Name, method: string, path: string, body?: unknown) {
    const response = await fetch(node.adminUrl + path, {
      method,
      headers: {
        Authorization: `Bearer ${TOKENS[name]}`,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: the test checks the parsed body
    return { status: response.status, body: (await response.json()) as any };
  }

  async function newPlayer(): Promise<string> {
    const path = `/v1/players/waiting-${count++}`;
    assert.equal((await call('ben', 'PUT', path, { currency: 'THB' })).status, 201);
    return path;
  }

  const deposit = (name: Name, player: string, id: string, amount: number) =>
    call(name, 'POST', `${player}/deposits`, { id, amount });
  const balance = async (player: string) => (await call('auditor', 'GET', player)).body.balance;

  test('a 202 names the pending approval, and approving it moves the money exactly once', async () => {
    const player = await newPlayer();
    const asked = await deposit('anna', player, 'big', 100.5);
    assert.equal(asked.status, 202);
    const approval = `/v1/approvals/${asked.body.approval.id}`;
    assert.deepEqual(await deposit('anna', player, 'big', 100.5), asked);
    assert.equal((await deposit('anna', player, 'big', 101)).status, 409);
    const { body: listed } = await call('auditor', 'GET', '/v1/approvals');
    const { requestedMillis, ...shown } = listed.approvals[0];
    assert.ok(requestedMillis > 0);
    assert.deepEqual(shown, {
      id: asked.body.approval.id,
      username: player.split('/').at(-1),
      currency: 'THB',
      type: 'deposit',
      operationId: 'big',
      amount: 100.5,
      allowNegativeBalance: false,
      expiresMillis: requestedMillis + 3_600_000,
      by: { name: 'anna', address: '127.0.0.1' },
    });
    assert.deepEqual((await call('anna', 'POST', `${approval}/approve`)).body.code, 'approval-own');
    assert.equal((await call('auditor', 'POST', `${approval}/approve`)).status, 403);
    assert.equal(await balance(player), 0);
    const answers = await Promise.all(Array.from({ length: 10 }, () => call('ben', 'POST', `${approval}/approve`)));
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.operation.balanceAfter]),
      answers.map(() => [200, 100.5]),
    );
    assert.equal(answers.filter(({ body }) => body.repeated === undefined).length, 1);
    assert.equal(await balance(player), 100.5);
    const { operation } = (answers[0] as (typeof answers)[number]).body;
    assert.deepEqual([operation.type, operation.by.name, operation.decidedBy.name], ['deposit', 'anna', 'ben']);
    assert.equal((await deposit('anna', player, 'big', 100.5)).body.repeated, true);
    assert.deepEqual((await call('auditor', 'GET', '/v1/approvals')).body, { approvals: [], next: null });
  });

  test('pending requests and refusals survive a restart from a snapshot', async () => {
    const player = await newPlayer();
    const no = await deposit('anna', player, 'no', 200);
    const later = await deposit('anna', player, 'later', 300);
    const refused = await call('ben', 'POST', `/v1/approvals/${no.body.approval.id}/refuse`);
    assert.deepEqual([refused.status, refused.body.operation.type], [200, 'refusal']);
    await call('ben', 'POST', '/v1/snapshots');
    await node.restart();
    assert.equal(
      (await call('ben', 'POST', `/v1/approvals/${no.body.approval.id}/approve`)).body.code,
      'approval-closed',
    );
    assert.equal((await deposit('anna', player, 'no', 200)).body.code, 'approval-closed');
    const { body } = await call('ben', 'GET', '/v1/approvals');
    assert.deepEqual(
      body.approvals.map(({ operationId }: { operationId: string }) => operationId),
      ['later'],
    );
    assert.equal((await call('ben', 'POST', `/v1/approvals/${later.body.approval.id}/approve`)).status, 200);
    assert.equal(await balance(player), 300);
  });

  test('approvals are listed page by page', async () => {
    const player = await newPlayer();
    for (const id of ['p1', 'p2', 'p3']) await deposit('anna', player, id, 150);
    const seen: string[] = [];
    for (let before = ''; ; ) {
      const { body } = await call('ben', 'GET', `/v1/approvals?limit=2${before}`);
      assert.ok(body.approvals.length <= 2);
      seen.push(...body.approvals.map(({ operationId }: { operationId: string }) => operationId));
      if (body.next === null) break;
      before = `&before=${body.next}`;
    }
    assert.deepEqual(seen, ['p3', 'p2', 'p1']);
  });

  test("approved money counts toward the requesting operator's daily total", async () => {
    await node.restart();
    const player = await newPlayer();
    // Earlier tests have already moved 100.5 and 300.
    const { body } = await deposit('anna', player, 'all', 1000);
    assert.equal((await call('ben', 'POST', `/v1/approvals/${body.approval.id}/approve`)).status, 200);
    assert.equal((await deposit('anna', player, 'more', 600)).body.code, 'hand-day-limit');
    assert.equal((await deposit('anna', player, 'fits', 599)).status, 202);
    await node.restart();
    assert.equal((await deposit('anna', player, 'more', 600)).body.code, 'hand-day-limit');
  });

  test('an approval with an uncertain outcome counts once, with its repeats', async (t) => {
    const player = await newPlayer();
    const ask = (amount: number) => deposit('ben', player, `uncertain-${count++}`, amount);
    const approvalOf = async (amount: number) => `/v1/approvals/${(await ask(amount)).body.approval.id}/approve`;
    const mustHaveLeft = async (left: number) => {
      assert.equal((await ask(left + 1)).body.code, 'hand-day-limit');
      assert.equal((await ask(left)).status, 202);
    };
    let left = 1000;
    assert.equal((await call('anna', 'POST', await approvalOf(2000 - left))).status, 200);
    const { operate } = WalletService.prototype;
    for (const failure of ['not-durable-in-time', 'unsure'] as const) {
      for (const isExecuted of [true, false]) {
        const approval = await approvalOf(200);
        left -= 200;
        type Operate = Parameters<typeof operate>;
        const fault = t.mock.method(
          WalletService.prototype,
          'operate',
          async function (this: WalletService, ...[command]: Operate) {
            if (command.type !== 'approve-request') return await operate.call(this, command);
            if (isExecuted) await operate.call(this, command);
            return { type: 'failed', failure };
          },
        );
        for (let i = 0; i < 2; i++) {
          assert.equal((await call('anna', 'POST', approval)).body.code, failure);
          await mustHaveLeft(left);
        }
        fault.mock.restore();
        const { status, body } = await call('anna', 'POST', approval);
        assert.deepEqual([status, body.repeated], [200, isExecuted ? true : undefined]);
        await mustHaveLeft(left);
      }
    }
  });

  test('an approval ID that does not exist gets 404', async () => {
    const ids = ['x', 'YQ', 'YQ.', '.YQ', 'YQ.YQ.YQ', 'YQ.YQ', 'YQ==.YQ', `${'YQ'.repeat(700)}.YQ`];
    for (const id of ids) assert.equal((await call('ben', 'POST', `/v1/approvals/${id}/approve`)).status, 404, id);
  });

  test('an approval limit with a single operator causes a warning', () => {
    const one = { ...settings, 'admin.tokens': settings['admin.tokens'].slice(0, 1) };
    assert.deepEqual(
      [settings, one].map((changes) => handWarnings(settingsWith(changes)).map(({ code }) => code)),
      [[], ['hand-unapproved']],
    );
  });
});

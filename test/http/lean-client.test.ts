import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ENDPOINTS } from '../../src/callback/callbacks.js';
import { balanceOf, importPlayers } from '../support/client.js';
import { LEAN_TXNS, leanBody } from '../support/lean-bodies.js';
import { Scrape } from '../support/scrape.js';
import { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';

let node: TestNode;
before(async () => {
  node = await TestNode.start({ 'decisions.version': 1 });
  await importPlayers(node.adminUrl, ['ann'], 1000);
});
after(() => node.close());

type Reported = readonly [status: number, statusCode: unknown, after?: unknown];

async function post(endpoint: string, body: object): Promise<Record<string, unknown> & { status: number }> {
  const response = await fetch(`${node.callbackUrl}/${endpoint}`, { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, ...((await response.json()) as Record<string, unknown>) };
}

async function reported(endpoint: string, body: object): Promise<Reported> {
  const { status, statusCode, balanceAfter, balance } = await post(endpoint, body);
  return statusCode === 0 ? [status, statusCode, balanceAfter ?? balance] : [status, statusCode];
}

type Txn = Record<string, unknown>;

/** One request from a client that sends only the required fields. `n` numbers its bet. */
function lean(endpoint: keyof typeof LEAN_TXNS, n: number, change: Txn = {}): Record<string, unknown> {
  const ids = endpoint === 'adjustBalance' ? { refId: `m${n}` } : { id: `b${n}`, roundId: `r${n}` };
  const body = leanBody(endpoint, [{ ...LEAN_TXNS[endpoint], ...ids, ...change }]);
  return { ...body, id: `q-${endpoint}-${n}` };
}

const noStatus = { status: undefined };
const { timestampMillis: _, ...timeless } = leanBody('checkBalance');

/** The client's twelve messages, each with the balance that follows it. */
const MESSAGES: readonly (readonly [endpoint: string, body: object, after: number])[] = [
  ['checkBalance', timeless, 1000],
  ['placeBets', lean('placeBets', 1), 990],
  ['adjustBets', lean('adjustBets', 1, { betAmount: 30 }), 970],
  ['settleBets', lean('settleBets', 1, noStatus), 995],
  ['voidSettled', lean('voidSettled', 1), 1000],
  ['settleBets', lean('settleBets', 2, { ...noStatus, isSingleState: true }), 1015],
  ['rollback', lean('rollback', 2), 990],
  ['cancelBets', lean('cancelBets', 2), 1000],
  ['placeTips', lean('placeTips', 3), 990],
  ['cancelTips', lean('cancelTips', 3), 1000],
  ['winRewards', lean('winRewards', 4), 1025],
  ['adjustBalance', lean('adjustBalance', 5), 1035],
];
const LAST = 1035;
/** Endpoints whose messages must contain every field. */
const COMPLETE = ['placeTips', 'cancelTips', 'adjustBalance', 'winRewards', 'rollback'];
const LACKING = MESSAGES.length - COMPLETE.length;

async function assertNothingMoves(): Promise<void> {
  for (const [endpoint, body] of MESSAGES) {
    await reported(endpoint, body);
    assert.equal(await balanceOf(node.adminUrl, 'ann'), LAST, endpoint);
  }
}

test('an older store refuses messages that lack a field', async () => {
  for (const [endpoint, body] of MESSAGES.filter(([one]) => !COMPLETE.includes(one))) {
    assert.deepEqual(await reported(endpoint, body), [400, 40003], endpoint);
  }
  const { reason } = await post('placeBets', {});
  assert.equal(reason, undefined);
  assert.equal(await balanceOf(node.adminUrl, 'ann'), 1000);
});

test('all twelve messages of a client without optional fields are executed', async () => {
  await node.restart({ 'decisions.version': 2 });
  for (const [endpoint, body, after] of MESSAGES) {
    assert.deepEqual(await reported(endpoint, body), [200, 0, after], `${endpoint} ${JSON.stringify(body)}`);
  }
});

test('messages that lack fields are counted by product', async () => {
  const wanted = { remark: 'missing-fields', product: 'P' };
  const countOf = async () => (await Scrape.of(node.adminUrl)).value('walletd_product_remarks_total', wanted);
  await until('all are counted', async () => (await countOf()) >= LACKING);
  assert.equal(await countOf(), LACKING);
});

test('repeats move no money, and the same messages with all fields count as repeats', async () => {
  await assertNothingMoves();
  const full = { gameCode: 'g', playInfo: 'p' };
  const settled = lean('settleBets', 2, { ...full, status: 'SETTLED', turnOver: 7, isSingleState: true });
  for (const [endpoint, body] of [
    ['placeBets', lean('placeBets', 1, full)],
    ['settleBets', settled],
    ['winRewards', lean('winRewards', 4, full)],
  ] as const) {
    await reported(endpoint, body);
    assert.equal(await balanceOf(node.adminUrl, 'ann'), LAST, endpoint);
  }
});

test('after a restart, repeats move nothing on any endpoint, under both versions', async () => {
  for (const version of [1, 2]) {
    // After the restart, memory no longer contains the endpoint that a body reached first.
    await node.restart({ 'decisions.version': version });
    for (const [from, body] of MESSAGES) {
      for (const to of ENDPOINTS.filter((one) => one !== from)) {
        const [status] = await reported(to, body);
        assert.ok(status !== 503, `${from} sent to ${to}`);
        assert.equal(await balanceOf(node.adminUrl, 'ann'), LAST, `${from} sent to ${to}`);
      }
    }
    await node.restart();
    await assertNothingMoves();
  }
});

test('a malformed request gets a short reason that quotes nothing from it', async () => {
  const reasonOf = async (endpoint: string, body: object) => (await post(endpoint, body)).reason;
  assert.equal(await reasonOf('placeBets', {}), 'id: is missing');
  assert.equal(await reasonOf('placeBets', lean('placeBets', 9, noStatus)), 'txns[0].status: is missing');
  const secret = 'x'.repeat(2000);
  for (const change of [{ status: secret }, { betAmount: secret }, { id: secret }, { playInfo: secret }]) {
    const reason = (await reasonOf('placeBets', lean('placeBets', 9, change))) as string;
    assert.ok(reason.length > 10 && reason.length <= 200 && !reason.includes('xxx'), reason);
  }
});

test('callbacks.reason turns the reason off', async () => {
  await node.restart({ 'callbacks.reason': false });
  const answer = await post('placeBets', {});
  assert.deepEqual(Object.keys(answer), ['status', 'id', 'statusCode', 'timestampMillis', 'productId']);
});

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ENDPOINTS } from '../../src/callback/callbacks.js';
import { parseKeys, type SignatureKey } from '../../src/http/signature.js';
import { balanceOf, bet, importPlayers, settledRound, settlement } from '../support/client.js';
import { Scrape } from '../support/scrape.js';
import { signedHeaders } from '../support/signed-headers.js';
import { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';

const KEYS = 'k:0123456789abcdef-secret';
const [KEY] = parseKeys(KEYS) as [SignatureKey];

/** Captured request: body and headers. */
class Captured {
  private readonly body: string;
  private readonly headers: Record<string, string>;

  constructor(message: object) {
    this.body = JSON.stringify(message);
    this.headers = signedHeaders(KEY.secret, this.body);
  }

  async sendTo(endpoint: string): Promise<{ status: number; statusCode: number }> {
    const init = { method: 'POST', body: this.body, headers: this.headers };
    const response = await fetch(`${node.callbackUrl}/${endpoint}`, init);
    const { statusCode } = (await response.json()) as { statusCode: number };
    return { status: response.status, statusCode };
  }
}

let node: TestNode;

before(async () => {
  node = await TestNode.start({ 'signature.keys': KEYS, workers: 0 });
});
after(() => node.close());

/**
 * Sends the message to its own endpoint and then to all others. None of the others may change or reveal the balance.
 */
async function assertBound(username: string, endpoint: string, message: object): Promise<void> {
  const captured = new Captured(message);
  assert.equal((await captured.sendTo(endpoint)).statusCode, 0);
  const balance = await balanceOf(node.adminUrl, username);
  for (const other of ENDPOINTS.filter((one) => one !== endpoint)) {
    const { status } = await captured.sendTo(other);
    assert.ok(status === 400 || status === 401, `${endpoint} sent to ${other}: HTTP ${status}`);
    assert.equal(await balanceOf(node.adminUrl, username), balance, `${endpoint} sent to ${other}`);
  }
  assert.deepEqual(await captured.sendTo(endpoint), { status: 200, statusCode: 0 });
  assert.equal(await balanceOf(node.adminUrl, username), balance);
}

test('a captured request moves no money on a different endpoint', async () => {
  await importPlayers(node.adminUrl, ['ann', 'bob', 'cid'], 1000);
  await assertBound('ann', 'placeBets', bet('ann', 'b1', 100));
  await assertBound('ann', 'settleBets', settlement('ann', 'b1', 500));
  await assertBound('bob', 'settleBets', settledRound('bob', 1));
  const txns = [{ id: 'w1', status: 'SETTLED', roundId: 'r1', payoutAmount: 50 }];
  await assertBound('cid', 'winRewards', { ...bet('cid', 'w1'), txns });
});

test('a captured placeBets does not undo an adjustment', async () => {
  await importPlayers(node.adminUrl, ['dan'], 1000);
  const placed = new Captured(bet('dan', 'b1', 100));
  await placed.sendTo('placeBets');
  const [txn] = bet('dan', 'b1', 40).txns;
  await new Captured({ ...bet('dan', 'b1'), id: 'a1', txns: [txn] }).sendTo('adjustBets');
  assert.equal(await balanceOf(node.adminUrl, 'dan'), 960);
  assert.deepEqual(await placed.sendTo('adjustBets'), { status: 401, statusCode: 30002 });
  assert.equal(await balanceOf(node.adminUrl, 'dan'), 960);
});

test('replays are counted and logged, and the memory for their detection is shown', async () => {
  // Retry the scrape, because a thread's counters arrive a moment later.
  const scrapes = () => Scrape.of(node.adminUrl);
  await until('the replay is counted', async () => (await scrapes()).value('walletd_replays_refused_total') >= 1);
  const scrape = await scrapes();
  assert.ok(scrape.value('walletd_replay_memory_bodies') >= 1);
  assert.ok(scrape.value('walletd_replay_memory_seconds') > 0);
  const [line] = node.logLines.filter(({ code }) => code === 'callbacks-replayed');
  assert.deepEqual(line?.refused, { 'placeBets sent to adjustBets': 1 });
});

test('bodies of unsigned callbacks are not remembered', async () => {
  const open = await TestNode.start({ workers: 0 });
  try {
    await importPlayers(open.adminUrl, ['ann'], 1000);
    const body = JSON.stringify(bet('ann', 'b1', 100));
    const response = await fetch(`${open.callbackUrl}/placeBets`, { method: 'POST', body });
    assert.equal(response.status, 200);
    assert.equal((await Scrape.of(open.adminUrl)).value('walletd_replay_memory_bodies'), 0);
  } finally {
    await open.close();
  }
});

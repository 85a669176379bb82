import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Random } from '../fuzz/random.js';
import { endAfterTests } from '../support/children.js';
import { bet, type CallbackAnswer, importPlayers, PlatformClient } from '../support/client.js';
import { runCommand } from '../support/run-command.js';
import { jsonLines, NODE_PLAYERS, StoredNode } from '../support/stored-node.js';
import { until } from '../support/until.js';
import { environment, UNLAUNCHED } from '../support/walletd-process.js';

const SINCE = ['--since', '2020-01-01T00:00:00Z'];
const UNDO = ['undo', '--callbacks', ...SINCE, '--allow-negative-balance'];
const UNLIMITED = ['--max-count', '100000', '--max-amount', '1000000000'];

interface Credit {
  readonly username: string;
  readonly id: string;
  readonly amount: number;
  readonly product?: string;
}

function envelope(username: string, id: string, product = 'P') {
  return { id, timestampMillis: 1, productId: product, currency: 'THB', username };
}

/** An adjustBalance callback that credits an amount. */
function credit({ username, id, amount, product }: Credit): [endpoint: string, body: object] {
  return [
    'adjustBalance',
    { ...envelope(username, `c-${id}`, product), txns: [{ refId: id, status: 'CREDIT', amount }] },
  ];
}

function reward({ username, id, amount, product }: Credit): [endpoint: string, body: object] {
  const txns = [{ id, roundId: `r-${id}`, status: 'SETTLED', payoutAmount: amount }];
  return ['winRewards', { ...envelope(username, `w-${id}`, product), txns }];
}

function voidOf({ username, id, amount, product }: Credit): [endpoint: string, body: object] {
  const fixed = { status: 'VOID', betAmount: 0, transactionType: 'BY_TRANSACTION', gameCode: 'g', playInfo: 'p' };
  const txns = [{ id, roundId: `r-${id}`, payoutAmount: amount, ...fixed }];
  return ['voidSettled', { ...envelope(username, `v-${id}`, product), txns }];
}

class Casino {
  private constructor(
    readonly node: StoredNode,
    private platform: PlatformClient,
  ) {}

  static async open(t: TestContext, shards = 2, env: Record<string, string> = {}): Promise<Casino> {
    const node = new StoredNode(t, shards);
    const { adminUrl, callbackUrl } = await node.start(env);
    await importPlayers(adminUrl, NODE_PLAYERS, 1000);
    const casino = new Casino(node, new PlatformClient(callbackUrl));
    t.after(() => casino.platform.close());
    return casino;
  }

  async post(endpoint: string, body: object): Promise<CallbackAnswer> {
    return await this.platform.post(endpoint, body);
  }

  async send(endpoint: string, body: object): Promise<void> {
    assert.equal((await this.post(endpoint, body)).statusCode, 0);
  }

  async restart(env: Record<string, string> = {}): Promise<void> {
    await this.node.stop();
    this.platform.close();
    this.platform = new PlatformClient((await this.node.start(env)).callbackUrl);
  }

  /** The sum of all balances in satang, because sums of doubles would be inexact. */
  async satang(): Promise<number> {
    return (await this.node.balances()).reduce((sum, balance) => sum + Math.round(balance * 100), 0);
  }
}

type Row = { username: string; id: string; state: string; correction: { id: string; amount: string } };

async function undone(casino: Casino, ...args: string[]): Promise<readonly Row[]> {
  const { status, stdout, stderr } = await casino.node.run([...UNDO, ...UNLIMITED, '--json', ...args]);
  assert.equal(status, 0, stdout + stderr);
  return jsonLines(stdout) as unknown as Row[];
}

test('the undone credits equal the given ones, however often undo runs', async (t) => {
  const seed = Date.now() % 100_000;
  t.diagnostic(`seed ${seed}`);
  const random = new Random(seed);
  const casino = await Casino.open(t);
  const before = await casino.satang();
  const sent: [string, object][] = [];
  let given = 0;
  for (let i = 0; i < 120; i++) {
    const one = { username: random.pick(NODE_PLAYERS), id: `id-${i}`, amount: (1 + random.between(0, 99_999)) / 100 };
    const isReward = random.oneIn(2);
    const message = isReward ? reward(one) : credit(one);
    sent.push(message);
    await casino.send(...message);
    if (isReward && random.oneIn(4)) await casino.send(...voidOf(one));
    else given += Math.round(one.amount * 100);
  }
  assert.equal((await casino.satang()) - before, given);
  const rows = await undone(casino, '--yes');
  const written = rows.filter(({ state }) => state === 'done');
  const sum = written.reduce((units, { correction }) => units + Math.round(Number(correction.amount) * 100), 0);
  assert.equal(-sum, given, 'the sum of the corrections');
  assert.equal(await casino.satang(), before);
  for (let i = 0; i < 2; i++) {
    for (const message of sent) {
      const { statusCode } = await casino.post(...message);
      assert.ok(statusCode === 0 || statusCode === 20003, 'a repeat gets its first answer; of a void 20003');
    }
    const again = await undone(casino, '--yes');
    assert.deepEqual(new Set(again.map(({ state }) => state)), new Set(['done before', 'voided before']));
    assert.equal(await casino.satang(), before);
  }
  const books = await casino.node.run(['verify', '--json']);
  assert.equal(jsonLines(books.stdout)[0]?.clean, true);
});

test('undo filters by product, endpoint, player, time span and a file of ids', async (t) => {
  const casino = await Casino.open(t);
  await casino.send(...credit({ username: 'ann', id: 'a', amount: 1 }));
  await casino.send(...credit({ username: 'ann', id: 'a', amount: 2, product: 'Q' }));
  await casino.send(...reward({ username: 'bob', id: 'b', amount: 4 }));
  const halfMs = Date.now();
  await until('the clock has gone on', () => Date.now() > halfMs);
  await casino.send(...credit({ username: 'bob', id: 'c', amount: 8 }));
  // Also send a winning bet and a debit, which undo must not change.
  await casino.send('placeBets', bet('ann', 'won', 16));
  const amounts = async (...args: string[]) =>
    (await undone(casino, ...args)).map(({ correction }) => correction.amount);
  assert.deepEqual(await amounts(), ['-1', '-2', '-4', '-8']);
  assert.deepEqual(await amounts('--product', 'Q'), ['-2']);
  assert.deepEqual(await amounts('--endpoint', 'winRewards'), ['-4']);
  assert.deepEqual(await amounts('--player', 'bob'), ['-4', '-8']);
  assert.deepEqual(await amounts('--until', String(halfMs)), ['-1', '-2', '-4']);
  assert.deepEqual(await amounts('--since', String(halfMs + 1)), ['-8']);
  const ids = `${casino.node.folder.path}/ids`;
  writeFileSync(ids, '\uFEFFa\r\nc\r\nnever-sent\r\n');
  const { stderr, stdout } = await casino.node.run([...UNDO, '--ids', ids, '--product', 'P', '--dry-run']);
  assert.match(stderr, /1 of 3 ids were not found, such as "never-sent"/);
  assert.match(stdout, /^2 corrections of -9 THB; --yes writes them\.$/m);
  for (const [args, why] of [
    [['undo', ...SINCE], /name --operator NAME or --callbacks/],
    [[...UNDO, '--type', 'deposit'], /--type requires --operator/],
    [['undo', '--operator', 'x', ...SINCE, '--product', 'P'], /--product and --endpoint require --callbacks/],
    [[...UNDO, '--ids', `${ids}.not`], /--ids .*ENOENT/],
    [[...UNDO, '--max-count', 'many'], /a whole number above 0/],
  ] as const) {
    const refused = await casino.node.run(args);
    assert.deepEqual([refused.status, why.test(refused.stderr)], [2, true], refused.stderr);
  }
});

test('undo beyond its limits writes nothing, and names the options that allow it', async (t) => {
  const casino = await Casino.open(t);
  for (let i = 0; i < 3; i++) await casino.send(...credit({ username: 'ann', id: `c${i}`, amount: 4000.5 }));
  const before = await casino.satang();
  const dry = await casino.node.run([...UNDO, '--dry-run', '--max-count', '2']);
  assert.match(
    dry.stdout,
    /^3 corrections of -12001\.5 THB; --yes --max-count 3 --max-amount 12001\.5 writes them\.$/m,
  );
  const tooMuch = await casino.node.run([...UNDO, '--yes']);
  assert.equal(tooMuch.status, 1);
  assert.match(tooMuch.stderr, /12001\.5 THB are more than --max-amount 10000: nothing was written/);
  const tooMany = await casino.node.run([...UNDO, '--yes', '--max-count', '2', '--max-amount', '12001.5']);
  assert.match(tooMany.stderr, /3 corrections are more than --max-count 2: nothing was written/);
  assert.equal(await casino.satang(), before);
  const csv = `${casino.node.folder.path}/undone.csv`;
  const done = await casino.node.run([...UNDO, '--yes', '--max-amount', '12001.5', '--csv', csv]);
  assert.match(done.stdout, /^3 corrections of -12001\.5 THB written\.$/m);
  assert.equal(await casino.satang(), before - 1_200_150);
  const [head, first] = readFileSync(csv, 'utf8').split('\r\n');
  assert.equal(head, 'time,username,endpoint,productId,type,id,amount,currency,correction,state');
  assert.match(first ?? '', /,ann,adjustBalance,P,credit,c0,4000\.5,THB,walletd:undo:credit:-4000\.5:P:c0,done$/);
});

test('the next undo completes an undo that was killed midway', async (t) => {
  const casino = await Casino.open(t);
  const before = await casino.satang();
  for (let i = 0; i < 400; i++) await casino.send(...credit({ username: 'ann', id: `c${i}`, amount: 1 }));
  const port = new URL(casino.node.walletd?.adminUrl ?? '').port;
  const [command = '', ...program] = UNLAUNCHED;
  const args = [...program, ...UNDO, ...UNLIMITED, '--yes'];
  const env = environment({ ...casino.node.env, WALLETD_ADMIN_PORT: port });
  const child = endAfterTests(spawn(command, args, { env, stdio: 'ignore' }));
  const exited = once(child, 'exit');
  await until('a correction is written', async () => (await casino.satang()) < before + 40_000);
  child.kill('SIGKILL');
  await exited;
  await undone(casino, '--yes');
  assert.equal(await casino.satang(), before);
});

test('credits that a trimmed log lacks are undone from the snapshot', async (t) => {
  const casino = await Casino.open(t, 1, { WALLETD_HISTORY_MAX_BYTES: '0', WALLETD_SNAPSHOTS_KEEP: '1' });
  const before = await casino.satang();
  await casino.send(...credit({ username: 'ann', id: 'c', amount: 1 }));
  await casino.send(...reward({ username: 'ann', id: 'w', amount: 2 }));
  await casino.send(...reward({ username: 'ann', id: 'v', amount: 4 }));
  await casino.send(...voidOf({ username: 'ann', id: 'v', amount: 4 }));
  for (let i = 0; i < 3; i++) {
    await casino.node.play(10);
    const { adminUrl } = casino.node.walletd ?? { adminUrl: '' };
    assert.ok((await fetch(`${adminUrl}/v1/snapshots`, { method: 'POST' })).ok);
  }
  const played = 3000;
  const seen = await casino.node.run(['inspect', 'player', 'ann']);
  assert.match(seen.stdout + seen.stderr, /the log of shard 0 begins at/);
  const rows = await undone(casino, '--yes');
  assert.deepEqual(
    rows.map(({ id, state }) => [id, state]),
    [
      ['c', 'done'],
      ['w', 'done'],
      ['v', 'voided before'],
    ],
  );
  assert.equal(await casino.satang(), before - played);
});

test('after resharding, the old store undoes credits, but not rewards', async (t) => {
  const casino = await Casino.open(t, 2);
  const before = await casino.satang();
  await casino.send(...credit({ username: 'ann', id: 'c', amount: 1 }));
  await casino.send(...reward({ username: 'ann', id: 'w', amount: 2 }));
  const old = casino.node.env.WALLETD_STORE as string;
  await casino.node.stop();
  for (const [from, to, shards] of [
    ['data', 'three', '3'],
    ['three', 'five', '5'],
  ] as const) {
    const places = [
      '--from',
      `lmdb:${casino.node.folder.path}/${from}`,
      '--to',
      `lmdb:${casino.node.folder.path}/${to}`,
    ];
    assert.equal((await casino.node.run(['restore', ...places, '--shards', shards])).status, 0);
  }
  Object.assign(casino.node.env, { WALLETD_STORE: `lmdb:${casino.node.folder.path}/five`, WALLETD_SHARDS: '5' });
  await casino.restart();
  const fromOld = [...UNDO, '--store', old, '--yes'];
  const rewards = await casino.node.run(fromOld);
  assert.match(rewards.stderr, /a reward may have been voided since: name that store in --store/);
  for (const sentence of [
    /^1 correction of -1 THB written\.$/m,
    /^No correction was written\. Besides, 1 done before\.$/m,
  ]) {
    const credits = await casino.node.run([...fromOld, '--endpoint', 'adjustBalance']);
    assert.equal(credits.status, 0, credits.stderr);
    if (sentence.source.startsWith('^1')) assert.match(credits.stdout, sentence);
    assert.equal(await casino.satang(), before + 200);
  }
  // The new store's first snapshot contains both the credit `c` and the reward `w`.
  const rows = await undone(casino, '--yes');
  assert.deepEqual(
    rows.map(({ id, state }) => [id, state]),
    [
      ['c', 'done before'],
      ['w', 'done'],
    ],
  );
  assert.equal(await casino.satang(), before);
});

test('undo counts a correction with a later attempt number as already done', async (t) => {
  const casino = await Casino.open(t);
  await casino.send(...credit({ username: 'ann', id: '7', amount: 1 }));
  const body = { undoes: { type: 'credit', id: '7', productId: 'P', attempt: 2 }, amount: -1, reason: 'r' };
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await fetch(`${casino.node.walletd?.adminUrl}/v1/players/ann/corrections`, init);
  assert.match(await answer.text(), /"id":"walletd:undo:credit:-1:P:7:2"/);
  assert.deepEqual(
    (await undone(casino)).map(({ state }) => state),
    ['done before'],
  );
});

test('a correction is pending until a second operator approves it', async (t) => {
  const casino = await Casino.open(t);
  await casino.send(...credit({ username: 'ann', id: 'c', amount: 1 }));
  const { storeId } = (await (await fetch(`${casino.node.walletd?.adminUrl}/v1/shards/0/players`)).json()) as {
    storeId: string;
  };
  await casino.node.stop();
  const asked: unknown[] = [];
  let isApproved = false;
  let isClosed = false;
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const isFirst = !text.includes('attempt');
    if (text !== '') asked.push(JSON.parse(text));
    response.statusCode = request.method === 'POST' && !isApproved ? (isClosed && isFirst ? 409 : 202) : 200;
    const refusal = { detail: 'too late', code: 'approval-closed' };
    response.end(JSON.stringify({ storeId, players: [], next: null, repeated: true, ...refusal }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const env = { ...casino.node.env, WALLETD_ADMIN_PORT: String((server.address() as AddressInfo).port) };
  const waiting = await runCommand([...UNDO, '--yes'], env);
  assert.equal(waiting.status, 1);
  assert.match(
    waiting.stdout,
    /^No correction was written; 1 correction of -1 THB pending until another operator approves\.$/m,
  );
  isClosed = true;
  const expired = await runCommand([...UNDO, '--yes'], env);
  assert.match(expired.stdout, /refused: too late; --ask-again requests it again/);
  const again = await runCommand([...UNDO, '--yes', '--ask-again'], env);
  assert.match(again.stdout, /1 correction of -1 THB pending/);
  isClosed = false;
  isApproved = true;
  const approved = await runCommand([...UNDO, '--yes'], env);
  assert.deepEqual([approved.status, /Besides, 1 done before\.$/m.test(approved.stdout)], [0, true]);
  const correction = {
    undoes: { type: 'credit', id: 'c', productId: 'P' },
    amount: -1,
    reason: 'undo of credit c by P',
    allowNegativeBalance: true,
  };
  const secondAttempt = { ...correction, undoes: { ...correction.undoes, attempt: 2 } };
  assert.deepEqual(asked, [correction, correction, correction, secondAttempt, correction]);
});

test('large corrections wait for a second operator, who approves each of them once', async (t) => {
  const node = new StoredNode(t, 2);
  const [asks, decides] = ['a'.repeat(32), 'd'.repeat(32)];
  const tokens = [
    { name: 'asks', role: 'operate', token: asks },
    { name: 'decides', role: 'operate', token: decides },
  ];
  const config = `${node.folder.path}/config.json`;
  writeFileSync(config, JSON.stringify({ admin: { tokens }, money: { byHand: { approveAbove: { THB: 10 } } } }));
  Object.assign(node.env, { WALLETD_CONFIG: config });
  const { adminUrl, callbackUrl } = await node.start();
  const ask = async (token: string, method: string, path: string, body?: object) => {
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
    const answer = await fetch(adminUrl + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    assert.ok(answer.ok, `${method} ${path} ${answer.status}`);
    return (await answer.json()) as { balance: number; approvals: { id: string }[] };
  };
  await ask(asks, 'PUT', '/v1/players/ann', { currency: 'THB' });
  const platform = new PlatformClient(callbackUrl);
  t.after(() => platform.close());
  const amounts = [5, 20, 40];
  for (const amount of amounts) await platform.post(...credit({ username: 'ann', id: `c${amount}`, amount }));
  const states = async () => jsonLines((await node.run([...UNDO, '--yes', '--json'])).stdout).map(({ state }) => state);
  const balance = async () => (await ask(asks, 'GET', '/v1/players/ann')).balance;
  assert.deepEqual(await states(), ['done', 'pending', 'pending']);
  assert.equal(await balance(), 60);
  for (const decision of ['approve', 'refuse']) {
    const [waiting] = (await ask(decides, 'GET', '/v1/approvals')).approvals;
    await ask(decides, 'POST', `/v1/approvals/${waiting?.id}/${decision}`);
  }
  const decided = await states();
  assert.equal(decided.filter((state) => state === 'done before').length, 2);
  assert.match(
    decided.find((state) => state !== 'done before') as string,
    /^refused: .*--ask-again requests it again$/,
  );
  const left = await balance();
  assert.ok(left === 20 || left === 40);
  const again = await node.run([...UNDO, '--yes', '--ask-again']);
  assert.match(again.stdout, /^No correction was written; 1 correction of -\d+ THB pending/m);
  const [waiting] = (await ask(decides, 'GET', '/v1/approvals')).approvals;
  await ask(decides, 'POST', `/v1/approvals/${waiting?.id}/approve`);
  assert.deepEqual(await states(), ['done before', 'done before', 'done before']);
  assert.equal(await balance(), 0);
});

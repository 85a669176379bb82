import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { bet, PlatformClient } from '../support/client.js';
import { runCommand } from '../support/run-command.js';
import { jsonLines } from '../support/stored-node.js';
import { inTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { WalletdProcess } from '../support/walletd-process.js';

const TOKENS = { backoffice: 'b'.repeat(32), support: 's'.repeat(32) };
type Name = keyof typeof TOKENS;

/** Runs a server with two operators, and performs their operations on ann, bob and cid. */
async function withOperators(
  work: (walletd: WalletdProcess, settings: Record<string, string>, sinceMs: number) => Promise<void>,
): Promise<void> {
  await inTempFolder(async (folder) => {
    const tokens = Object.entries(TOKENS).map(([name, token]) => ({ name, token, role: 'operate' }));
    writeFileSync(`${folder}/config.json`, JSON.stringify({ admin: { tokens } }));
    const env = { WALLETD_STORE: `lmdb:${folder}/data`, WALLETD_CONFIG: `${folder}/config.json` };
    const walletd = await WalletdProcess.start(env);
    const players = ['ann', 'bob', 'cid'];
    for (const username of players) await create(walletd, username);
    for (const username of players) await send(walletd, 'support', `/${username}/deposits`, { id: 'd', amount: 100 });
    const sinceMs = Date.now();
    // ann gets two deposits, bob spends his deposit, and cid only loses money.
    await send(walletd, 'backoffice', '/ann/deposits', { id: 'gift', amount: 50.25 });
    await send(walletd, 'backoffice', '/ann/deposits', { id: 'gift-2', amount: 1 });
    await send(walletd, 'backoffice', '/bob/deposits', { id: 'gift', amount: 50 });
    await send(walletd, 'backoffice', '/cid/withdrawals', { id: 'fee', amount: 30 });
    await send(walletd, 'support', '/cid/deposits', { id: 'own', amount: 5 });
    const platform = new PlatformClient(walletd.callbackUrl);
    assert.equal((await platform.post('placeBets', bet('bob', 'spent', 120))).statusCode, 0);
    platform.close();
    await work(walletd, { ...env, WALLETD_ADMIN_PORT: new URL(walletd.adminUrl).port }, sinceMs);
    assert.equal(await walletd.end('SIGTERM'), 0);
  });
}

function headersOf(name: Name): Record<string, string> {
  return { 'Content-Type': 'application/json', Authorization: `Bearer ${TOKENS[name]}` };
}

/** Sends a request. A text body is sent unchanged. */
async function send(walletd: WalletdProcess, name: Name, path: string, body: object | string): Promise<void> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const init = { method: 'POST', headers: headersOf(name), body: text };
  const answer = await fetch(`${walletd.adminUrl}/v1/players${path}`, init);
  assert.ok(answer.ok, await answer.text());
}

async function create(walletd: WalletdProcess, username: string): Promise<void> {
  const init = { method: 'PUT', headers: headersOf('support'), body: JSON.stringify({ currency: 'THB' }) };
  assert.equal((await fetch(`${walletd.adminUrl}/v1/players/${username}`, init)).status, 201);
}

async function balances(walletd: WalletdProcess): Promise<number[]> {
  const read = async (username: string) => {
    const answer = await fetch(`${walletd.adminUrl}/v1/players/${username}`, { headers: headersOf('support') });
    return ((await answer.json()) as { balance: number }).balance;
  };
  return await Promise.all(['ann', 'bob', 'cid'].map(read));
}

test('undo shows its corrections, writes each once, and names players that it cannot debit', () =>
  withOperators(async (walletd, settings, sinceMs) => {
    const args = ['undo', '--operator', 'backoffice', '--since', String(sinceMs)];
    const shown = await runCommand([...args, '--json'], settings);
    assert.equal(shown.status, 0, shown.stderr);
    const plan = jsonLines(shown.stdout).map(({ username, type, id, correction, state }) => [
      username,
      type,
      id,
      correction,
      state,
    ]);
    const planned = (username: string, type: string, id: string, amount: string) => [
      username,
      type,
      id,
      { id: `walletd:undo:${type}:${amount}:${id}`, amount, currency: 'THB' },
      'would be written',
    ];
    assert.deepEqual(plan, [
      planned('ann', 'deposit', 'gift', '-50.25'),
      planned('ann', 'deposit', 'gift-2', '-1'),
      planned('bob', 'deposit', 'gift', '-50'),
      planned('cid', 'withdrawal', 'fee', '30'),
    ]);
    assert.deepEqual(await balances(walletd), [151.25, 30, 75]);

    const deposits = await runCommand([...args, '--type', 'deposit', '--yes'], settings);
    assert.equal(deposits.status, 1);
    assert.match(deposits.stdout, /bob .* refused: the balance is too small|bob .* refused: /);
    assert.match(deposits.stdout, /^2 corrections of -51\.25 THB written; 1 correction of -50 THB refused\.$/m);
    assert.deepEqual(await balances(walletd), [100, 30, 75]);

    for (const state of ['done', 'done before']) {
      const all = await runCommand([...args, '--allow-negative-balance', '--yes', '--json'], settings);
      assert.equal(all.status, 0, all.stderr);
      assert.equal(jsonLines(all.stdout).at(-1)?.state, state);
      assert.deepEqual(await balances(walletd), [100, -20, 105]);
    }
    const books = await runCommand(['verify', '--no-server', '--json'], settings);
    assert.equal(jsonLines(books.stdout)[0]?.clean, true);
  }));

test('undo reverses imports, shortens long ids and respects --until', () =>
  withOperators(async (walletd, settings) => {
    const sinceMs = Date.now();
    const id = 'x'.repeat(256);
    const line = JSON.stringify({ id, username: 'dan', currency: 'THB', balance: 40 });
    const headers = { ...headersOf('backoffice'), 'Content-Type': 'application/x-ndjson' };
    const answer = await fetch(`${walletd.adminUrl}/v1/players:import`, { method: 'POST', headers, body: line });
    assert.match(await answer.text(), /"created":1,/);
    const untilMs = Date.now();
    await until('the clock has gone on', () => Date.now() > untilMs);
    await send(walletd, 'backoffice', '/dan/deposits', { id: 'later', amount: 1 });
    const args = ['undo', '--operator', 'backoffice', '--since', String(sinceMs), '--until', String(untilMs)];
    for (const state of ['done', 'done before']) {
      const { status, stdout } = await runCommand([...args, '--type', 'import', '--yes', '--json'], settings);
      assert.equal(status, 0);
      const [only, ...more] = jsonLines(stdout) as { type: string; state: string; correction: { id: string } }[];
      assert.deepEqual([only?.type, only?.state, more], ['import', state, []]);
      assert.match(only?.correction.id ?? '', /^walletd:undo-hash:import:-40:[0-9a-f]{64}$/);
    }
    const { stdout } = await runCommand([...args, '--json'], settings);
    assert.deepEqual(jsonLines(stdout).length, 1, 'what came later is left out');
    const dan = await fetch(`${walletd.adminUrl}/v1/players/dan`, { headers: headersOf('support') });
    assert.equal(((await dan.json()) as { balance: number }).balance, 1);
  }));

test('undo recognizes earlier corrections by kind, target and amount, not by id', () =>
  withOperators(async (walletd, settings, sinceMs) => {
    // Ids in the form that earlier versions of undo used for corrections.
    await send(walletd, 'support', '/ann/corrections', { id: 'undo-gift', amount: -0.01, reason: 'a trap' });
    await send(walletd, 'support', '/ann/deposits', { id: 'undo-gift-2', amount: 0.01 });
    const args = ['undo', '--operator', 'backoffice', '--since', String(sinceMs), '--player', 'ann', '--yes', '--json'];
    for (const state of ['done', 'done before']) {
      const { status, stdout, stderr } = await runCommand(args, settings);
      assert.equal(status, 0, stdout + stderr);
      assert.deepEqual(
        jsonLines(stdout).map((one) => one.state),
        [state, state],
      );
      assert.equal((await balances(walletd))[0], 100);
    }
  }));

test('corrections from an older undo count as done and are not repeated', () =>
  withOperators(async (walletd, settings, sinceMs) => {
    const correction = { id: 'undo-gift', amount: -50.25, reason: 'undo of deposit gift by backoffice' };
    await send(walletd, 'support', '/ann/corrections', correction);
    const args = ['undo', '--operator', 'backoffice', '--since', String(sinceMs), '--player', 'ann', '--yes', '--json'];
    const { stdout } = await runCommand(args, settings);
    assert.deepEqual(
      jsonLines(stdout).map((one) => one.state),
      ['done before', 'done'],
    );
    assert.equal((await balances(walletd))[0], 100);
  }));

test('undo reports if nothing matches or no server answers', () =>
  withOperators(async (_walletd, settings, sinceMs) => {
    const refused = await runCommand(['undo', '--operator', 'stranger', '--since', String(sinceMs)], settings);
    assert.deepEqual([refused.status, /stranger made no such operations since/.test(refused.stderr)], [1, true]);
    const args = ['undo', '--operator', 'backoffice', '--since', String(sinceMs), '--yes'];
    const { WALLETD_ADMIN_PORT: _port, ...elsewhere } = settings;
    const alone = await runCommand(args, { ...elsewhere, WALLETD_ADMIN_PORT: '1' });
    assert.equal(alone.status, 1);
    assert.match(alone.stderr, /no server of this store answers at http/);
    const wrong = await runCommand(['undo', '--operator', 'x', '--since', 'yesterday'], settings);
    assert.equal(wrong.status, 2);
  }));

test('restore --player shows the past and current balance and the correction between them', () =>
  withOperators(async (walletd, settings) => {
    const file = `${settings.WALLETD_STORE?.slice('lmdb:'.length)}/../backup`;
    assert.equal((await runCommand(['backup', '--to', file], settings)).status, 0);
    const args = ['restore', '--from', file, '--player', 'ann', '--show', '--json'];
    const same = await runCommand(args, settings);
    assert.equal(same.status, 0, same.stderr);
    const [then] = jsonLines(same.stdout);
    assert.deepEqual([then?.balance, then?.now, then?.correction], ['151.25', '151.25', null]);

    await send(walletd, 'support', '/ann/withdrawals', { id: 'w', amount: 51.2499 });
    const moved = await runCommand(args, settings);
    const [{ correction } = {}] = jsonLines(moved.stdout) as {
      correction: { id: string; amount: number; reason: string };
    }[];
    assert.equal(correction?.amount, 51.2499);
    const { stdout: text } = await runCommand(args.slice(0, -1), settings);
    assert.match(text, /^ {2}walletd undo --callbacks --player ann --since \S+Z --ids FILE$/m);
    assert.match(text, /also reverses everything that ann has won and lost since/);
    const [, path = '', body = ''] = /^ {2}POST http\S+\/v1\/players(\/\S+)\n {2}(\{.*\})$/m.exec(text) ?? [];
    await send(walletd, 'support', path, body);
    assert.deepEqual((await balances(walletd))[0], 151.25);

    const refused = await runCommand(['restore', '--from', file, '--player', 'eve', '--show'], settings);
    assert.deepEqual([refused.status, /has no player eve/.test(refused.stderr)], [1, true]);
    const byPipe = await runCommand(['restore', '--from', '-', '--player', 'ann', '--show'], settings);
    assert.deepEqual([byPipe.status, /a pipe cannot be read at random positions/.test(byPipe.stderr)], [2, true]);
    const encrypted = await runCommand([...args, '--identity', `${file}.key`], settings);
    assert.deepEqual([encrypted.status, /decrypt it first with `age -d`/.test(encrypted.stderr)], [2, true]);
    const half = await runCommand(['restore', '--from', file, '--player', 'ann', '--to', 'lmdb:./x'], settings);
    assert.deepEqual([half.status, /--player and --show must be used together/.test(half.stderr)], [2, true]);
  }));

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { balanceOf, bet, importPlayers, PlatformClient } from '../support/client.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { LAUNCHED, runWalletd, WalletdProcess } from '../support/walletd-process.js';

async function withStore(run: (store: string) => Promise<void>): Promise<void> {
  const folder = makeTempFolder();
  try {
    await run(`lmdb:${folder.path}/data`);
  } finally {
    folder.remove();
  }
}

test('serve says where it listens, on what store and with what durability; a second start finds everything', () =>
  withStore(async (store) => {
    const first = await WalletdProcess.start({ WALLETD_STORE: store });
    const ready = await first.waitFor((line) => line.msg === 'walletd is ready');
    assert.match(String(ready.store), /^lmdb:\/.*\/data$/);
    assert.match(String(ready.durability), /fsync/);
    await importPlayers(first.adminUrl, ['ann'], 100);
    const client = new PlatformClient(first.callbackUrl);
    await client.post('placeBets', bet('ann', 't1', 10));
    client.close();
    assert.equal(await first.end('SIGTERM'), 0);

    const second = await WalletdProcess.start({ WALLETD_STORE: store });
    assert.equal(await balanceOf(second.adminUrl, 'ann'), 90);
    assert.equal(await second.end('SIGINT'), 0);
    assert.equal(first.errors + second.errors, '');
  }));

test('SIGTERM under load: every answer that came is kept, none is cut in half, and the end is in good order', () =>
  withStore(async (store) => {
    const walletd = await WalletdProcess.start({ WALLETD_STORE: store });
    await importPlayers(walletd.adminUrl, ['ann'], 1_000_000);
    const client = new PlatformClient(walletd.callbackUrl);
    let answered = 0;
    let half = 0;
    let ending = false;
    const worker = async (name: number) => {
      for (let i = 0; !ending || i === 0; i++) {
        try {
          const answer = await client.post('placeBets', bet('ann', `t${name}-${i}`));
          if (answer.statusCode === 0) answered++;
          else return;
        } catch (error) {
          if (/half|JSON/.test((error as Error).message)) half++;
          return;
        }
      }
    };
    const workers = Array.from({ length: 32 }, (_, name) => worker(name));
    await until('it is under load', () => answered > 100);
    const startedMs = Date.now();
    assert.equal(await walletd.end('SIGTERM'), 0);
    assert.ok(Date.now() - startedMs < 20_000);
    ending = true;
    await Promise.all(workers);
    client.close();
    assert.equal(half, 0);

    const again = await WalletdProcess.start({ WALLETD_STORE: store });
    const kept = 1_000_000 - (await balanceOf(again.adminUrl, 'ann'));
    await again.end('SIGTERM');
    assert.ok(kept >= answered, `${kept} bets kept of ${answered} answered`);
  }));

test('a second process on the same folder takes the store over; the first ends, says who took it, and answers nothing more', () =>
  withStore(async (store) => {
    const first = await WalletdProcess.start({ WALLETD_STORE: store });
    await importPlayers(first.adminUrl, ['ann', 'bob', 'cat', 'dan'], 100);
    const client = new PlatformClient(first.callbackUrl);
    await client.post('placeBets', bet('ann', 't1', 10));
    const second = await WalletdProcess.start({ WALLETD_STORE: store });
    const late = await client.post('placeBets', bet('ann', 't2', 10)).catch(() => undefined);
    assert.ok(late === undefined || late.statusCode === 50001, 'no answer by the former owner');
    assert.equal(await first.exit(), 3);
    const fenced = first.log.find((line) => /took this store over/.test(line.msg));
    assert.match(String(fenced?.takenBy), new RegExp(`^process ${second.pid} on `));
    assert.equal(await balanceOf(second.adminUrl, 'ann'), 90);
    client.close();
    await second.end('SIGTERM');
  }));

test('two processes that start at the same moment: one serves, and no entry is written twice', () =>
  withStore(async (store) => {
    runWalletd(['init'], { WALLETD_STORE: store });
    for (let round = 0; round < 3; round++) {
      const starts = await Promise.allSettled([0, 1].map(() => WalletdProcess.start({ WALLETD_STORE: store })));
      const started = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
      assert.ok(started.length >= 1);
      // When both came through, the later one has fenced the earlier one, which learns it at its next step.
      for (const one of started) await fetch(`${one.adminUrl}/v1/players/x`).catch(() => undefined);
      const exits = await Promise.all(started.map((one) => one.end('SIGTERM')));
      assert.ok(exits.filter((code) => code === 0).length >= 1, String(exits));
      assert.ok(
        exits.every((code) => code === 0 || code === 3),
        String(exits),
      );
    }
    const last = await WalletdProcess.start({ WALLETD_STORE: store });
    assert.equal(await last.end('SIGTERM'), 0, 'the log replays');
  }));

test('init creates a store, and changes nothing where there is one', () =>
  withStore(async (store) => {
    const env = { WALLETD_STORE: store, WALLETD_SHARDS: '2' };
    const first = runWalletd(['init'], env);
    assert.equal(first.status, 0);
    assert.match(first.stdout, /^Created store lmdb:.*: 2 shards/);
    const second = runWalletd(['init', store], { WALLETD_SHARDS: '2' });
    assert.equal(second.status, 0);
    assert.match(second.stdout, /^There is already a store .* Nothing was changed\.$/m);
    const other = runWalletd(['init'], { ...env, WALLETD_SHARDS: '3' });
    assert.equal(other.status, 2);
    assert.match(other.stderr, /^walletd: shards is 3, but the store was created with 2/);
  }));

test('a configuration that differs from the store stops the start, in one sentence', () =>
  withStore(async (store) => {
    runWalletd(['init'], { WALLETD_STORE: store });
    const shards = runWalletd(['serve'], { WALLETD_STORE: store, WALLETD_SHARDS: '8' });
    assert.equal(shards.status, 2);
    assert.match(
      shards.stderr,
      /^walletd: shards is 8, but the store was created with 4: set WALLETD_SHARDS=4 \(store lmdb:.*\)\n$/,
    );
    const scale = runWalletd(['serve'], { WALLETD_STORE: store, WALLETD_MONEY_SCALE: '2' });
    assert.match(scale.stderr, /^walletd: money\.scale is 2, but the store was created with 4/);
  }));

test('with init never, an empty store is refused and nothing is created', () =>
  withStore(async (store) => {
    const refused = runWalletd(['serve'], { WALLETD_STORE: store, WALLETD_INIT: 'never' });
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /^walletd: there is no store at lmdb:.*walletd init/);
    runWalletd(['init'], { WALLETD_STORE: store });
    const walletd = await WalletdProcess.start({ WALLETD_STORE: store, WALLETD_INIT: 'never' });
    assert.equal(await walletd.end('SIGTERM'), 0);
  }));

test('a port that is taken stops the start before the store is taken from anyone', () =>
  withStore(async (store) => {
    const first = await WalletdProcess.start({ WALLETD_STORE: store });
    await importPlayers(first.adminUrl, ['ann'], 100);
    for (const variable of ['WALLETD_PORT', 'WALLETD_ADMIN_PORT']) {
      const url = variable === 'WALLETD_PORT' ? first.callbackUrl : first.adminUrl;
      const second = runWalletd(['serve'], { WALLETD_STORE: store, [variable]: new URL(url).port });
      assert.equal(second.status, 1);
      assert.match(second.stderr, /^walletd: cannot listen on \S+ for (callbacks|the operator API) \([^\n]*\n$/);
    }
    assert.equal(await balanceOf(first.adminUrl, 'ann'), 100);
    assert.equal(await first.end('SIGTERM'), 0);
  }));

test('accept-loss makes no store where a name was mistyped', () => {
  const folder = makeTempFolder();
  try {
    const mistyped = join(folder.path, 'mistyped');
    const { status, stderr } = runWalletd(['accept-loss', '--yes'], { WALLETD_STORE: `lmdb:${mistyped}` });
    assert.equal(status, 1);
    assert.match(stderr, /^walletd: there is no store at lmdb:.*mistyped[^\n]*\n$/);
    assert.equal(existsSync(mistyped), false);
  } finally {
    folder.remove();
  }
});

test('help, version and wrong words', () => {
  const help = runWalletd(['--help']);
  assert.equal(help.status, 0);
  assert.match(help.stdout, /serve [\s\S]*init [\s\S]*accept-loss /);
  for (const verb of ['serve', 'init']) {
    const verbHelp = runWalletd([verb, '--help']);
    assert.equal(verbHelp.status, 0);
    assert.match(verbHelp.stdout, new RegExp(`Usage: walletd ${verb}`));
  }
  assert.match(runWalletd(['--version']).stdout, /^\d+\.\d+\.\d+\n$/);
  assert.equal(runWalletd(['swerve']).status, 2);
  assert.equal(runWalletd(['serve', '--nonsense']).status, 2);
  const wrong = runWalletd(['serve'], { WALLETD_PORT: 'abc' }, LAUNCHED);
  assert.equal(wrong.status, 2);
  assert.equal(wrong.stderr, 'walletd: port cannot be "abc" (from WALLETD_PORT): it must be integer\n');
});

test('the launcher gives Node a heap for the arguments of serve, too', () => {
  const program = fileURLToPath(new URL('../../src/cli/programs/node-options.js', import.meta.url));
  const env = { ...process.env, NODE_OPTIONS: '', WALLETD_HOST: '0.0.0.0' };
  const optionsOf = (...args: string[]) => spawnSync(process.execPath, [program, ...args], { env, encoding: 'utf8' });
  assert.match(optionsOf('serve', '--insecure').stdout, /^--max-old-space-size=\d+ .*--max-semi-space-size=\d+\n$/);
  assert.equal(optionsOf('serve').stdout, '', 'serve says what is wrong');
});

test('without the part of msgpackr that reads all strings right nothing starts, in one sentence', () => {
  const folder = makeTempFolder();
  try {
    const env = { WALLETD_STORE: `lmdb:${folder.path}/data`, MSGPACKR_NATIVE_ACCELERATION_DISABLED: 'true' };
    for (const verb of ['serve', 'verify']) {
      const refused = runWalletd([verb], env);
      assert.equal(refused.status, 1);
      assert.match(refused.stderr, /^walletd: msgpackr reads some strings wrong .*\n$/);
    }
  } finally {
    folder.remove();
  }
});

test('a store that cannot be opened stops the start, in one sentence', async () => {
  const folder = makeTempFolder();
  const server = createServer().listen(`${folder.path}/file`);
  try {
    const refused = runWalletd(['serve'], { WALLETD_STORE: `lmdb:${folder.path}/file/data` });
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /^walletd: cannot open the store lmdb:/);
  } finally {
    server.close();
    folder.remove();
  }
});

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { BACKUP_NAME } from '../../src/tools/backup/rotation.js';
import { balanceOf, bet, importPlayers, PlatformClient } from '../support/client.js';
import { runCommand } from '../support/run-command.js';
import { jsonLines } from '../support/stored-node.js';
import { inTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { runWalletd, UNLAUNCHED, WalletdCommand, WalletdProcess } from '../support/walletd-process.js';
import { writeTwoSegments } from './backup-files.js';

const WALLETD = UNLAUNCHED.join(' ');

async function identityIn(folder: string): Promise<{ readonly recipient: string; readonly key: string }> {
  const identity = await generateX25519Identity();
  const key = `${folder}/key.txt`;
  writeFileSync(key, `# created by a test\n${identity}\n`);
  return { recipient: await identityToRecipient(identity), key };
}

test('a complete encrypted pipe is restored, a cut-off one is refused', () =>
  inTempFolder(async (folder) => {
    const { store } = await writeTwoSegments(folder);
    const { recipient, key } = await identityIn(folder);
    const sh = (line: string) => runWalletd(['-c', line], {}, ['sh']);
    const backup = `${WALLETD} backup --from ${store} --to - --recipient ${recipient}`;
    const restore = (to: string) => `${WALLETD} restore --from - --identity ${key} --to lmdb:${folder}/${to}`;
    const piped = sh(`${backup} 2> ${folder}/said | ${restore('whole')}`);
    assert.equal(piped.status, 0, piped.stderr);
    assert.match(readFileSync(`${folder}/said`, 'utf8'), /^Store lmdb:.* in standard output$/m);
    const heads = async (at: string) => {
      const { stdout } = await runCommand(['verify', '--no-server', '--json', '--store', at]);
      return (jsonLines(stdout)[0] as { shards: { lsn: string; players: number }[] }).shards.map(({ lsn, players }) => [
        lsn,
        players,
      ]);
    };
    assert.deepEqual(await heads(`lmdb:${folder}/whole`), await heads(store));

    const plain = `${WALLETD} backup --from ${store} --to - 2> ${folder}/said`;
    const cut = sh(`${plain} | head -c 600 | ${restore('cut')}`);
    assert.equal(cut.status, 1);
    assert.match(cut.stderr, /has no complete segment: the first one was cut off/);
    const refused = await runCommand(['verify', '--no-server', '--store', `lmdb:${folder}/cut`]);
    assert.equal(refused.status, 1);
  }));

test('an encrypted file opens only with its identity', () =>
  inTempFolder(async (folder) => {
    const { store } = await writeTwoSegments(folder);
    const { recipient, key } = await identityIn(folder);
    const file = `${folder}/wallets.age`;
    assert.equal((await runCommand(['backup', '--from', store, '--to', file, '--recipient', recipient])).status, 0);
    assert.match(readFileSync(file, 'latin1'), /^age-encryption\.org\/v1\n/);
    assert.equal((await runCommand(['verify', file, '--identity', key])).status, 0);
    const another = await identityIn(folder);
    const refused = await runCommand(['verify', file, '--identity', another.key]);
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /cannot be decrypted: /);
    const wrong = await runCommand(['backup', '--from', store, '--to', `${folder}/x`, '--recipient', 'age1wrong']);
    assert.deepEqual([wrong.status, /begins with age1/.test(wrong.stderr)], [2, true]);
  }));

test('mutually exclusive options are refused before anything is read', async () => {
  const refusals: [string[], RegExp][] = [
    [['--to', '-', '--follow'], /requires a file, not a pipe/],
    [['--to', 'x', '--rotate', '1h'], /--rotate requires --follow/],
    [['--to', 'x', '--follow', '--keep', '3'], /--keep requires --rotate/],
    [['--to', 'x', '--heartbeat', 'y'], /require --follow/],
    [['--to', 'x', '--follow', '--then', 'true'], /also requires --rotate/],
    [['--to', 'x', '--follow', '--rotate', 'now'], /such as 512MiB/],
  ];
  for (const [args, says] of refusals) {
    const { status, stderr } = await runCommand(['backup', ...args]);
    assert.equal(status, 2, stderr);
    assert.match(stderr, says);
  }
});

test('a rotated backup writes complete files, passes them on and reports its progress', () =>
  inTempFolder(async (folder) => {
    const env = { WALLETD_STORE: `lmdb:${folder}/data` };
    const walletd = await WalletdProcess.start(env);
    await importPlayers(walletd.adminUrl, ['ann'], 100);
    const [backups, handed] = [`${folder}/backups`, `${folder}/handed`];
    const args = [
      'backup',
      '--to',
      backups,
      '--follow',
      '--rotate',
      '1MiB',
      '--keep',
      '1',
      '--then',
      `echo {} >> ${handed}`,
    ];
    const watched = ['--heartbeat', `${folder}/heartbeat`, '--metrics', `${folder}/walletd.prom`];
    const follower = new WalletdCommand([...args, ...watched], env);
    await follower.said(/Following/);
    const names = () => readdirSync(backups).filter((name) => BACKUP_NAME.test(name));
    await until('the first file', () => names().length === 1);
    const [first] = names();
    // Use random names, because they cannot be compressed.
    const players = Array.from({ length: 40_000 }, () => randomBytes(72).toString('base64url'));
    await importPlayers(walletd.adminUrl, players, 1);
    await until('another file', () => names().length === 2);
    assert.equal(readFileSync(handed, 'utf8'), `${backups}/${first}\n`);
    const platform = new PlatformClient(walletd.callbackUrl);
    assert.equal((await platform.post('placeBets', bet('ann', 'last', 7))).statusCode, 0);
    platform.close();
    const afterMs = Date.now();
    await until(
      'a heartbeat after the bet',
      () => Date.parse(readFileSync(`${folder}/heartbeat`, 'utf8').trim()) > afterMs,
    );
    const metrics = () => (existsSync(`${folder}/walletd.prom`) ? readFileSync(`${folder}/walletd.prom`, 'utf8') : '');
    await until('metrics', () => /^walletd_backup_lag_entries 0$/m.test(metrics()));
    await follower.exit('SIGKILL');

    const second = new WalletdCommand([...args, ...watched], env);
    await second.said(/^Continuing /m);
    assert.equal(await second.exit('SIGTERM'), 0, second.stderr);
    const handedFirst = `${backups}/${first}\n`;
    assert.equal(readFileSync(handed, 'utf8'), handedFirst + handedFirst, 'once more after a start');
    assert.match(metrics(), /^walletd_backup_covered_timestamp_seconds \d{10}/m);
    assert.equal(await walletd.end('SIGTERM'), 0);
    const restored = await runCommand(['restore', '--from', backups, '--to', `lmdb:${folder}/restored`]);
    assert.equal(restored.status, 0, restored.stderr);
    const again = await WalletdProcess.start({ WALLETD_STORE: `lmdb:${folder}/restored` });
    assert.equal(await balanceOf(again.adminUrl, 'ann'), 93);
    await again.end('SIGTERM');
  }));

test('an encrypted file in follow mode appears when a signal ends the backup', () =>
  inTempFolder(async (folder) => {
    const env = { WALLETD_STORE: `lmdb:${folder}/data` };
    const { recipient, key } = await identityIn(folder);
    const walletd = await WalletdProcess.start(env);
    await importPlayers(walletd.adminUrl, ['ann'], 100);
    const backups = `${folder}/backups`;
    const heartbeat = `${folder}/heartbeat`;
    const args = ['backup', '--to', backups, '--follow', '--rotate', '1h', '--recipient', recipient];
    const follower = new WalletdCommand([...args, '--heartbeat', heartbeat], env);
    await follower.said(/ in .*\.backup\.age/);
    assert.deepEqual(
      readdirSync(backups).filter((name) => BACKUP_NAME.test(name)),
      [],
    );
    const platform = new PlatformClient(walletd.callbackUrl);
    assert.equal((await platform.post('placeBets', bet('ann', 'last', 7))).statusCode, 0);
    platform.close();
    const afterMs = Date.now();
    await until('a heartbeat after the bet', () => {
      try {
        return Date.parse(readFileSync(heartbeat, 'utf8').trim()) > afterMs;
      } catch {
        return false;
      }
    });
    assert.equal(await follower.exit('SIGTERM'), 0, follower.stderr);
    assert.equal(await walletd.end('SIGTERM'), 0);
    const restored = await runCommand([
      'restore',
      '--from',
      backups,
      '--identity',
      key,
      '--to',
      `lmdb:${folder}/restored`,
    ]);
    assert.equal(restored.status, 0, restored.stderr);
    const again = await WalletdProcess.start({ WALLETD_STORE: `lmdb:${folder}/restored` });
    assert.equal(await balanceOf(again.adminUrl, 'ann'), 93);
    await again.end('SIGTERM');
  }));

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { runCommand } from '../support/run-command.js';
import { jsonLines } from '../support/stored-node.js';
import { inTempFolder } from '../support/temp-folder.js';
import { SHARDS } from '../tools/recorded-store.js';
import { withoutLastSegment, writeTwoSegments } from './backup-files.js';

test("verify checks a backup's entries, wallets and books and prints its time", () =>
  inTempFolder(async (folder) => {
    const { file, store } = await writeTwoSegments(folder);
    const ofFile = await runCommand(['verify', file, '--json']);
    assert.deepEqual([ofFile.status, ofFile.stderr], [0, '']);
    const [found] = jsonLines(ofFile.stdout);
    const [expected] = jsonLines((await runCommand(['verify', '--store', store, '--no-server', '--json'])).stdout);
    const heads = (report: unknown) => (report as { shards: { lsn: string }[] }).shards.map(({ lsn }) => lsn);
    assert.deepEqual(heads(found), heads(expected));
    const balances = (report: unknown) =>
      Object.values((report as { books: object }).books).map(({ balances }) => balances);
    assert.deepEqual(balances(found), balances(expected));
    assert.deepEqual(
      [found?.clean, found?.segments, found?.cutBytes, found?.time],
      [true, 2, 0, '2023-11-14T22:13:25.000Z'],
    );
    const people = await runCommand(['verify', file]);
    assert.match(
      people.stdout,
      /\nNothing differs\.\nIts newest entry is from 2023-11-14T22:13:25\.000Z; it was copied at /,
    );
  }));

test('verify refuses damaged, encrypted and foreign files, and reports cut-off backups', () =>
  inTempFolder(async (folder) => {
    const { file } = await writeTwoSegments(folder);
    truncateSync(file, statSync(file).size - 1);
    const cut = await runCommand(['verify', file]);
    assert.equal(cut.status, 4);
    assert.match(cut.stdout, /\nNothing differs\.\n.*\nIts last segment was cut off: \d+ bytes do not count\.\n/);
    const spoiled = readFileSync(file);
    spoiled.writeUInt8(spoiled.readUInt8(100) ^ 1, 100);
    writeFileSync(file, spoiled);
    const damaged = await runCommand(['verify', file]);
    assert.equal(damaged.status, 1);
    assert.match(damaged.stderr, /^walletd: .* is damaged at byte \d+: wrong checksum/);
    writeFileSync(file, 'age-encryption.org/v1\n-> X25519 ');
    const encrypted = await runCommand(['verify', file]);
    assert.deepEqual([encrypted.status, /is encrypted with age: .* --identity/.test(encrypted.stderr)], [1, true]);
    assert.equal((await runCommand(['verify', file, '--store', `lmdb:${folder}/data`])).status, 2);
  }));

test('inspect, export and verify --store read a backup like the store itself', () =>
  inTempFolder(async (folder) => {
    const { file, store } = await writeTwoSegments(folder);
    for (const args of [
      ['inspect', 'player', 'ann', '--json'],
      ['inspect', 'txn', 'bet', '--json'],
      ['inspect', 'operators', '--json'],
      ['verify', '--deep', '--no-server'],
    ]) {
      const [ofFile, ofStore] = [
        await runCommand([...args, '--store', file]),
        await runCommand([...args, '--store', store]),
      ];
      assert.deepEqual([ofFile.status, ofFile.stderr], [0, ''], args.join(' '));
      // The backup begins with the newest snapshot, so its log is shorter than the store's. Therefore compare only the
      // player's current state.
      if (args[1] === 'player')
        assert.equal(jsonLines(ofFile.stdout)[0]?.balance, jsonLines(ofStore.stdout)[0]?.balance);
      assert.ok(ofFile.stdout.length > 100);
    }
    withoutLastSegment(file);
    const player = await runCommand(['inspect', 'player', 'ann', '--json', '--store', file]);
    assert.equal(jsonLines(player.stdout).find(({ record }) => record === 'player')?.balance, '99.999');
    assert.match(player.stderr, /^walletd: the last segment of .* was cut off, and is left out\n/);
    for (const nothing of [`${folder}/nothing`, folder]) {
      const none = await runCommand(['inspect', 'player', 'ann', '--store', nothing]);
      assert.deepEqual(
        [none.status, /the argument is neither a STORE \(.*\) nor a backup/.test(none.stderr)],
        [2, true],
      );
    }
  }));

test('in a --rotate folder, the newest file that reaches back far enough is used', () =>
  inTempFolder(async (folder) => {
    const { file, store } = await writeTwoSegments(folder);
    const backups = `${folder}/backups`;
    mkdirSync(backups);
    renameSync(file, `${backups}/2023-11-14T221320000Z.backup`);
    const newer = `${backups}/2023-11-15T000000000Z.backup`;
    // The newer backup begins with this snapshot, so it does not reach back to before ann's win.
    const taken = await runCommand(['snapshot', 'take', '--stopped'], {
      WALLETD_STORE: store,
      WALLETD_SHARDS: String(SHARDS),
    });
    assert.equal(taken.status, 0, taken.stderr);
    assert.equal((await runCommand(['backup', '--from', store, '--to', newer])).status, 0);
    const balanceFrom = async (...args: string[]) =>
      jsonLines((await runCommand([...args, '--json'])).stdout).find(({ balance }) => balance !== undefined)?.balance;
    assert.equal(await balanceFrom('inspect', 'player', 'ann', '--store', backups), '100.0015');
    const show = ['restore', '--from', backups, '--player', 'ann', '--show'];
    assert.equal(await balanceFrom(...show), '100.0015');
    assert.equal(await balanceFrom(...show, '--at', '2023-11-14T22:13:24Z'), '99.999');
  }));

test('restore prints its point in time, and --dry-run does so without writing', () =>
  inTempFolder(async (folder) => {
    const { file } = await writeTwoSegments(folder);
    const args = ['restore', '--from', file, '--to', `lmdb:${folder}/new`];
    const dry = await runCommand([...args, '--dry-run']);
    assert.deepEqual([dry.status, dry.stderr], [0, '']);
    assert.match(dry.stdout, /^shard +snapshot +up to +as of +entries +size$/m);
    assert.match(
      dry.stdout,
      /, as of 2023-11-14T22:13:25\.000Z, its newest entry, would be in lmdb:.*\/new\. Nothing was written\.\n$/,
    );
    assert.ok(!existsSync(`${folder}/new`));
    const real = await runCommand([...args, '--at', '2100-01-01T00:00:00Z', '--json']);
    assert.equal(real.status, 0);
    assert.match(
      real.stderr,
      /^walletd: --at is later than \S+Z, the end of .*: later entries are not in the source\n$/,
    );
    assert.equal(jsonLines(real.stdout)[0]?.time, '2023-11-14T22:13:25.000Z');
    const again = await runCommand([...args, '--dry-run']);
    assert.equal(again.status, 1);
    assert.match(
      again.stderr,
      /^walletd: if the data at lmdb:\S+ is no longer needed, move its folder away \(mv \S+ \S+\.old\)\n/,
    );
  }));

test('restore refuses a cut-off backup before it writes, unless --accept-cut-off is given', () =>
  inTempFolder(async (folder) => {
    const { file } = await writeTwoSegments(folder);
    truncateSync(file, statSync(file).size - 1);
    const args = ['restore', '--from', file, '--to', `lmdb:${folder}/new`];
    const refused = await runCommand(args);
    assert.equal(refused.status, 4);
    assert.match(
      refused.stderr,
      /^walletd: the last segment of .* was cut off; .* goes up to \S+Z: --accept-cut-off restores that part\n$/,
    );
    assert.ok(!existsSync(`${folder}/new`));
    const accepted = await runCommand([...args, '--accept-cut-off']);
    assert.equal(accepted.status, 0);
    assert.match(accepted.stderr, /^walletd: the last segment of .* was cut off; the complete part goes up to /);
    const { stdout } = await runCommand(['verify', '--store', `lmdb:${folder}/new`, '--no-server', '--json']);
    assert.equal(jsonLines(stdout)[0]?.clean, true);
  }));

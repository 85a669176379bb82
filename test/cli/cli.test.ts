import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { restoreTargetOf } from '../../src/cli/restore-target.js';
import { openFormats } from '../../src/store/format/store-formats.js';
import { LmdbStore } from '../../src/store/lmdb/lmdb-store.js';
import { restoreFrames } from '../../src/tools/restore/restore.js';
import { ToolError } from '../../src/tools/store-reader.js';
import { Writer } from '../contract/writer.js';
import { balanceOf, bet, importPlayers, PlatformClient } from '../support/client.js';
import { RedisServer } from '../support/redis-server.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { runWalletd, UNLAUNCHED, WalletdCommand, WalletdProcess } from '../support/walletd-process.js';
import { AT_ONCE, framesOf, META, recordedHistory, walletsOf } from '../tools/stores.js';

const PLAYERS = ['ann', 'bob', 'cid', 'dan', 'eve', 'fay'];
const FUNDS = 1_000_000;

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = makeTempFolder();
  try {
    await run(folder.path);
  } finally {
    folder.remove();
  }
}

/** A store in a folder that nobody serves. */
async function storedHistory(folder: string): Promise<Map<string, unknown>> {
  const wal = await recordedHistory();
  const store = LmdbStore.open(folder);
  await restoreFrames(framesOf(wal), restoreTargetOf(store), { openFormats, patience: AT_ONCE });
  await store.close();
  return await walletsOf(wal);
}

async function walletsIn(folder: string): Promise<Map<string, unknown>> {
  const store = LmdbStore.open(folder);
  try {
    assert.deepEqual(await store.maybeMeta(), META);
    return await walletsOf(store);
  } finally {
    await store.close();
  }
}

/** Bets until it is stopped; resolves to the number of bets that were accepted, by player. */
class Load {
  readonly accepted = new Map(PLAYERS.map((username) => [username, 0]));
  private isOn = true;
  private readonly client: PlatformClient;
  private readonly betting: Promise<unknown>;

  constructor(callbackUrl: string) {
    this.client = new PlatformClient(callbackUrl);
    this.betting = Promise.all(PLAYERS.map((username) => this.bet(username)));
  }

  get total(): number {
    return [...this.accepted.values()].reduce((sum, count) => sum + count, 0);
  }

  async until(total: number): Promise<void> {
    while (this.total < total) await delay(5);
  }

  async stop(): Promise<void> {
    this.isOn = false;
    await this.betting;
    this.client.close();
  }

  private async bet(username: string): Promise<void> {
    for (let i = 0; this.isOn; i++) {
      const { statusCode } = await this.client.post('placeBets', bet(username, `${username}-${i}`));
      assert.equal(statusCode, 0);
      this.accepted.set(username, i + 1);
    }
  }
}

test('a backup while a server answers: restored elsewhere it has all that was answered before, and nothing half', () =>
  inFolder(async (folder) => {
    const from = `lmdb:${folder}/data`;
    const [file, to] = [`${folder}/wallets.backup`, `lmdb:${folder}/restored`];
    const env = { WALLETD_STORE: from, WALLETD_SNAPSHOTS_EVERY_SECONDS: '1' };
    const walletd = await WalletdProcess.start(env, [], UNLAUNCHED);
    await importPlayers(walletd.adminUrl, PLAYERS, FUNDS);
    const load = new Load(walletd.callbackUrl);
    await load.until(500);
    const before = new Map(load.accepted);
    const backup = new WalletdCommand(['backup', '--to', file, '--json'], env);
    assert.equal(await backup.exit(), 0, backup.stderr);
    const after = new Map(load.accepted);
    await load.stop();
    assert.equal(await walletd.end('SIGTERM'), 0);

    const result = JSON.parse(backup.stdout) as { bytes: number; shards: { entries: number; lsn: string }[] };
    assert.equal(result.bytes, statSync(file).size);
    assert.equal(result.shards.length, 4);
    const restore = runWalletd(['restore', '--from', file, '--to', to, '--json']);
    assert.equal(restore.status, 0, restore.stderr);
    const restored = JSON.parse(restore.stdout) as { shards: { entries: number; lsn: string }[] };
    assert.deepEqual(
      restored.shards.map(({ lsn, entries }) => [lsn, entries]),
      result.shards.map(({ lsn, entries }) => [lsn, entries]),
    );
    const second = await WalletdProcess.start({ WALLETD_STORE: to }, [], UNLAUNCHED);
    for (const username of PLAYERS) {
      const bets = FUNDS - (await balanceOf(second.adminUrl, username));
      const [least = 0, most = 0] = [before.get(username), after.get(username)];
      assert.ok(bets >= least && bets <= most + 1, `${username}: ${bets} bets, ${least} to ${most} answered`);
    }
    assert.equal(await second.end('SIGTERM'), 0);
    assert.equal(backup.stderr + restore.stderr, '', 'no bar where nobody can see it');
  }));

test('following: what comes is in the file within seconds; SIGTERM ends it in good order; killed, it goes on where it was', () =>
  inFolder(async (folder) => {
    const env = { WALLETD_STORE: `lmdb:${folder}/data` };
    const file = `${folder}/wallets.backup`;
    const walletd = await WalletdProcess.start(env, [], UNLAUNCHED);
    await importPlayers(walletd.adminUrl, PLAYERS, FUNDS);
    const load = new Load(walletd.callbackUrl);
    await load.until(100);
    const follower = new WalletdCommand(['backup', '--to', file, '--follow'], env);
    await follower.said(/Following/);
    const size = statSync(file).size;
    while (statSync(file).size === size) await delay(20);
    await follower.exit('SIGKILL');
    appendFileSync(file, readFileSync(file).subarray(16, 30));
    await load.until(load.total + 100);

    const second = new WalletdCommand(['backup', '--to', file, '--follow'], env);
    await second.said(/Following/);
    assert.match(second.stderr, /the last segment of .* was cut off: \d+ bytes are dropped/);
    assert.match(second.stdout, /^Continuing /m);
    await load.until(load.total + 100);
    await load.stop();
    for (let before = -1; before !== statSync(file).size; await delay(2500)) before = statSync(file).size;
    assert.equal(await second.exit('SIGTERM'), 0, second.stderr);
    assert.match(second.stdout, /^Appended \d+ entries in \d+ segments?;/m);
    assert.equal(await walletd.end('SIGTERM'), 0);

    const restore = runWalletd(['restore', '--from', file, '--to', `lmdb:${folder}/restored`]);
    assert.equal(restore.status, 0, restore.stderr);
    const restored = await WalletdProcess.start({ WALLETD_STORE: `lmdb:${folder}/restored` });
    for (const username of PLAYERS) {
      const bets = FUNDS - (await balanceOf(restored.adminUrl, username));
      assert.equal(bets, load.accepted.get(username), username);
    }
    await restored.end('SIGTERM');
  }));

test('a backup that is interrupted while its store does not answer ends soon, and leaves no file', async () => {
  const server = await RedisServer.start();
  try {
    assert.equal(runWalletd(['init', server.url]).status, 0);
    await server.call('ACL', 'SETUSER', 'blind', 'on', '>secret', '~*', '+@all', '-xrange');
    await inFolder(async (folder) => {
      const from = server.url.replace('//', '//blind:secret@');
      const backup = new WalletdCommand(['backup', '--to', `${folder}/file`, '--from', from]);
      await backup.said(/cannot read the log; trying again/);
      const startedMs = performance.now();
      assert.equal(await backup.exit('SIGINT'), 1, backup.stderr);
      assert.ok(performance.now() - startedMs < 20_000);
      assert.doesNotMatch(backup.stdout + backup.stderr, /secret/);
      assert.ok(!existsSync(`${folder}/file`));
    });
  } finally {
    await server.destroy();
  }
});

test('a stopped store to a file, to another store, and to a moment of the past', () =>
  inFolder(async (folder) => {
    const wallets = await storedHistory(`${folder}/data`);
    const from = `lmdb:${folder}/data`;
    const file = `${folder}/wallets.backup`;
    const backup = runWalletd(['backup', '--from', from, '--to', file]);
    assert.equal(backup.status, 0, backup.stderr);
    assert.match(backup.stdout, /^shard +snapshot +up to +entries +size$/m);
    const sentence = `^Store lmdb:.*/data, id ${META.storeId}, as of .*Z: .* KiB in ${file}$`;
    assert.match(backup.stdout, new RegExp(sentence, 'm'));

    const secret = { THE_STORE: `lmdb:${folder}/from-file` };
    const fromFile = runWalletd(['restore', '--from', file, '--to', 'env:THE_STORE'], secret);
    assert.equal(fromFile.status, 0, fromFile.stderr);
    assert.deepEqual(await walletsIn(`${folder}/from-file`), wallets);
    const direct = runWalletd(['restore', '--from', from, '--to', `lmdb:${folder}/direct`]);
    assert.equal(direct.status, 0, direct.stderr);
    assert.deepEqual(await walletsIn(`${folder}/direct`), wallets);

    const early = runWalletd([
      'restore',
      '--from',
      file,
      '--to',
      `lmdb:${folder}/early`,
      '--at',
      '2000-01-01T00:00:00Z',
    ]);
    assert.equal(early.status, 1);
    const [, time = ''] = /^walletd: nothing that early .* is (\S+Z)$/m.exec(early.stderr) ?? [];
    const at = runWalletd(['restore', '--from', file, '--to', `lmdb:${folder}/early`, '--at', time]);
    assert.equal(at.status, 0, at.stderr);
    assert.notDeepEqual(await walletsIn(`${folder}/early`), wallets);
  }));

test('what is refused is refused in one sentence, with an exit code for scripts, and changes nothing', () =>
  inFolder(async (folder) => {
    await storedHistory(`${folder}/data`);
    const from = `lmdb:${folder}/data`;
    const file = `${folder}/wallets.backup`;
    assert.equal(runWalletd(['backup', '--from', from, '--to', file]).status, 0);
    const before = readFileSync(file);
    const spoiled = Buffer.from(before);
    spoiled.writeUInt8(spoiled.readUInt8(200) ^ 1, 200);
    writeFileSync(`${folder}/spoiled.backup`, spoiled);
    assert.equal(runWalletd(['init', `lmdb:${folder}/other`]).status, 0);
    const newStore = ['--to', `lmdb:${folder}/new`];
    const refusals: readonly (readonly [args: string[], status: number, sentence: RegExp])[] = [
      [
        ['backup', '--from', from, '--to', file],
        1,
        /^walletd: .*wallets.backup is there already; --follow continues it$/m,
      ],
      [['backup', '--from', `lmdb:${folder}/none`, '--to', `${file}-2`], 1, /^walletd: there is no store at lmdb:/m],
      [['backup', '--from', from, '--to', `${folder}/no/folder`], 1, /^walletd: ENOENT/m],
      [
        ['backup', '--from', `lmdb:${folder}/other`, '--to', file, '--follow'],
        1,
        /^walletd: .* is a backup of another store, /m,
      ],
      [['backup', '--from', from], 2, /required option '--to <file>' not specified/],
      [['backup', '--from', 'env:NOT_SET', '--to', `${file}-2`], 2, /^walletd: the variable NOT_SET is not set$/m],
      [
        ['restore', '--from', file, '--to', from],
        1,
        /^walletd: there is a store at lmdb:.* already, .*a restore needs an empty place$/m,
      ],
      [['restore', '--from', `${folder}/none`, ...newStore], 1, /^walletd: ENOENT/m],
      [
        ['restore', '--from', `${folder}/spoiled.backup`, ...newStore],
        1,
        /^walletd: .* is damaged at byte \d+: wrong/m,
      ],
      [['restore', '--from', file, ...newStore, '--at', '2026-01-31T12:00:00'], 2, /a time needs its zone/],
      [
        ['restore', '--from', file, ...newStore, '--at', '9:1-1'],
        1,
        /^walletd: there is no shard 9: the store has 2$/m,
      ],
      [
        ['restore', '--from', 'REDIS://ann:hush@127.0.0.1', ...newStore],
        2,
        /^walletd: store cannot be what is given \(from WALLETD_STORE\)/m,
      ],
      [
        ['verify', '--store', from, '--server', 'http://ann:hush@127.0.0.1'],
        2,
        /^walletd: --server must be an address such as/m,
      ],
      [['restore', '--from', `${folder}/\u001b[2J`, ...newStore], 1, /^walletd: "ENOENT: .*\\u001b\[2J/m],
      [['restore', '--from', file], 2, /required option '--to <store>' not specified/],
    ];
    for (const [args, status, sentence] of refusals) {
      const result = runWalletd(args);
      assert.equal(result.status, status, `${args.join(' ')}: ${result.stderr}`);
      assert.match(result.stderr, sentence);
      assert.doesNotMatch(result.stderr, /\n {4}at |hush/, 'no stack, and no password');
      assert.ok(!result.stderr.includes('\u001b'), 'nothing that moves a cursor');
    }
    assert.deepEqual(readFileSync(file), before);
    assert.ok(!existsSync(`${folder}/new/data.mdb`) && !existsSync(`${file}-2`));
  }));

test('a restore that was interrupted is refused by serve, by init and by the next restore', () =>
  inFolder(async (folder) => {
    await storedHistory(`${folder}/data`);
    const half = `lmdb:${folder}/half`;
    const store = LmdbStore.open(`${folder}/half`);
    const cut = async function* () {
      for await (const frame of framesOf(await recordedHistory())) {
        if (frame.type === 'end') throw new ToolError('the power went out');
        yield frame;
      }
    };
    await assert.rejects(restoreFrames(cut(), restoreTargetOf(store), { openFormats, patience: AT_ONCE }));
    await store.close();
    const env = { WALLETD_STORE: half, WALLETD_SHARDS: '2' };
    for (const args of [
      ['serve'],
      ['init'],
      ['backup', '--to', `${folder}/b`],
      ['restore', '--from', `lmdb:${folder}/data`, '--to', half],
    ]) {
      const { status, stderr } = runWalletd(args, env);
      assert.equal(status, 1, args.join(' '));
      assert.match(stderr, /^walletd: .*the restore of this store was not finished: empty it and restore again$/m);
    }
  }));

test('a restore that fails when it has begun says what to do with what is there', () =>
  inFolder(async (folder) => {
    const store = LmdbStore.open(`${folder}/data`);
    await store.create({ ...META, shards: 1 });
    const log = new Writer(store, META.storeId);
    await log.append(0);
    await store.close();
    const args = ['restore', '--from', `lmdb:${folder}/data`, '--to', `lmdb:${folder}/new`];
    const { status, stderr } = runWalletd(args, { WALLETD_SHARDS: '1' });
    assert.equal(status, 1);
    assert.match(
      stderr,
      /the new store is not whole, and nothing will use it: remove its folder before the next try\n/,
    );
    assert.match(stderr, /entry 1-1 of shard 0 is not by the owner of its epoch/);
  }));

test('help shows an example of each verb', () => {
  for (const verb of ['backup', 'restore']) {
    const { status, stdout } = runWalletd([verb, '--help']);
    assert.equal(status, 0);
    assert.match(stdout, new RegExp(`Examples?:\n +walletd ${verb} --`));
  }
});

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { restoreTargetOf } from '../../src/cli/restore-target.js';
import { formatLsn } from '../../src/ports/lsn.js';
import { openFormats } from '../../src/store/format/store-formats.js';
import { LmdbStore } from '../../src/store/lmdb/lmdb-store.js';
import { type StoreMeta, withArchive } from '../../src/store/meta.js';
import { restoreFrames } from '../../src/tools/restore/restore.js';
import { ToolError } from '../../src/tools/store-reader.js';
import { Writer } from '../contract/writer.js';
import { runCommand } from '../support/run-command.js';
import { inTempFolder } from '../support/temp-folder.js';
import { framesOf, IMMEDIATE, META, recordedHistory, walletsOf } from '../tools/recorded-store.js';

/** Writes a store into a folder without a server. */
async function storedHistory(folder: string): Promise<Map<string, unknown>> {
  const wal = await recordedHistory();
  const store = LmdbStore.open(folder);
  await restoreFrames(framesOf(wal), restoreTargetOf(store), { openFormats, retryPolicy: IMMEDIATE });
  await store.close();
  return await walletsOf(wal);
}

async function walletsIn(folder: string): Promise<Map<string, unknown>> {
  const store = LmdbStore.open(folder);
  try {
    const meta = await store.meta.tryRead();
    const { timelines, ...rest } = withArchive(meta as StoreMeta, undefined);
    assert.deepEqual(rest, META);
    assert.ok(timelines !== undefined && timelines.length > 0);
    return await walletsOf(store);
  } finally {
    await store.close();
  }
}

test('a stopped store is restored from a file, a store and an earlier moment', () =>
  inTempFolder(async (folder) => {
    const wallets = await storedHistory(`${folder}/data`);
    const from = `lmdb:${folder}/data`;
    const file = `${folder}/wallets.backup`;
    const backup = await runCommand(['backup', '--from', from, '--to', file]);
    assert.equal(backup.status, 0, backup.stderr);
    assert.match(backup.stdout, /^shard +snapshot +up to +entries +size$/m);
    const sentence = `^Store lmdb:.*/data, id ${META.storeId}, as of .*Z: .* KiB in ${file}$`;
    assert.match(backup.stdout, new RegExp(sentence, 'm'));

    const secret = { THE_STORE: `lmdb:${folder}/from-file` };
    const fromFile = await runCommand(['restore', '--from', file, '--to', 'env:THE_STORE'], secret);
    assert.equal(fromFile.status, 0, fromFile.stderr);
    assert.deepEqual(await walletsIn(`${folder}/from-file`), wallets);
    const direct = await runCommand(['restore', '--from', from, '--to', `lmdb:${folder}/direct`]);
    assert.equal(direct.status, 0, direct.stderr);
    assert.deepEqual(await walletsIn(`${folder}/direct`), wallets);

    const early = await runCommand([
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
    const at = await runCommand(['restore', '--from', file, '--to', `lmdb:${folder}/early`, '--at', time]);
    assert.equal(at.status, 0, at.stderr);
    assert.notDeepEqual(await walletsIn(`${folder}/early`), wallets);
  }));

test('a refusal is one sentence with an exit code and changes nothing', () =>
  inTempFolder(async (folder) => {
    await storedHistory(`${folder}/data`);
    const from = `lmdb:${folder}/data`;
    const file = `${folder}/wallets.backup`;
    assert.equal((await runCommand(['backup', '--from', from, '--to', file])).status, 0);
    const before = readFileSync(file);
    const spoiled = Buffer.from(before);
    spoiled.writeUInt8(spoiled.readUInt8(200) ^ 1, 200);
    writeFileSync(`${folder}/spoiled.backup`, spoiled);
    assert.equal((await runCommand(['init', `lmdb:${folder}/other`])).status, 0);
    const newStore = ['--to', `lmdb:${folder}/new`];
    const refusals: readonly (readonly [args: string[], status: number, sentence: RegExp])[] = [
      [
        ['backup', '--from', from, '--to', file],
        1,
        /^walletd: .*wallets.backup already exists; --follow continues it$/m,
      ],
      [['backup', '--from', `lmdb:${folder}/none`, '--to', `${file}-2`], 1, /^walletd: there is no store at lmdb:/m],
      [['backup', '--from', from, '--to', `${folder}/no/folder`], 1, /^walletd: ENOENT/m],
      [
        ['backup', '--from', `lmdb:${folder}/other`, '--to', file, '--follow'],
        1,
        /^walletd: .* is a backup of a different store, /m,
      ],
      [['backup', '--from', from], 2, /required option '--to <file>' not specified/],
      [['backup', '--from', 'env:NOT_SET', '--to', `${file}-2`], 2, /^walletd: the variable NOT_SET is not set$/m],
      [
        ['restore', '--from', file, '--to', from],
        1,
        /^walletd: there is already a store at lmdb:.*, .*a restore requires an empty target$/m,
      ],
      [['restore', '--from', `${folder}/none`, ...newStore], 1, /^walletd: ENOENT/m],
      [
        ['restore', '--from', `${folder}/spoiled.backup`, ...newStore],
        1,
        /^walletd: .* is damaged at byte \d+: wrong/m,
      ],
      [['restore', '--from', file, ...newStore, '--at', '2026-01-31T12:00:00'], 2, /a time needs a zone/],
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
      const result = await runCommand(args);
      assert.equal(result.status, status, `${args.join(' ')}: ${result.stderr}`);
      assert.match(result.stderr, sentence);
      assert.doesNotMatch(result.stderr, /\n {4}at |hush/, 'no stack, and no password');
      assert.ok(!result.stderr.includes('\u001b'), 'nothing that moves a cursor');
    }
    assert.deepEqual(readFileSync(file), before);
    assert.ok(!existsSync(`${folder}/new/data.mdb`) && !existsSync(`${file}-2`));
  }));

test('serve, init and the next restore refuse the result of an interrupted restore', () =>
  inTempFolder(async (folder) => {
    await storedHistory(`${folder}/data`);
    const half = `lmdb:${folder}/half`;
    const store = LmdbStore.open(`${folder}/half`);
    const cut = async function* () {
      for await (const frame of framesOf(await recordedHistory())) {
        if (frame.type === 'end') throw new ToolError('the power went out');
        yield frame;
      }
    };
    await assert.rejects(restoreFrames(cut(), restoreTargetOf(store), { openFormats, retryPolicy: IMMEDIATE }));
    await store.close();
    const env = { WALLETD_STORE: half, WALLETD_SHARDS: '2' };
    for (const args of [
      ['serve'],
      ['init'],
      ['backup', '--to', `${folder}/b`],
      ['restore', '--from', `lmdb:${folder}/data`, '--to', half],
    ]) {
      const { status, stderr } = await runCommand(args, env);
      assert.equal(status, 1, args.join(' '));
      assert.match(stderr, /^walletd: .*the restore of this store was not finished: empty it and restore again$/m);
    }
  }));

test('a restore that fails midway explains how to empty the target', () =>
  inTempFolder(async (folder) => {
    const store = LmdbStore.open(`${folder}/data`);
    await store.meta.create({ ...META, shards: 1 });
    const log = new Writer(store.wal, META.storeId);
    await log.append(0);
    await store.close();
    const args = ['restore', '--from', `lmdb:${folder}/data`, '--to', `lmdb:${folder}/new`];
    const { status, stderr } = await runCommand(args, { WALLETD_SHARDS: '1' });
    assert.equal(status, 1);
    assert.match(
      stderr,
      /the new store is incomplete and cannot be used: move its folder away \(mv \S+ \S+\) before the next attempt\n/,
    );
    assert.match(stderr, /entry 1-1 of shard 0 was not written by the owner of its epoch/);
  }));

test('each restore begins a timeline after the newest restored entries', () =>
  inTempFolder(async (folder) => {
    await storedHistory(`${folder}/data`);
    const copy = await runCommand(['restore', '--from', `lmdb:${folder}/data`, '--to', `lmdb:${folder}/copy`]);
    assert.equal(copy.status, 0, copy.stderr);
    const timelinesIn = async (name: string) => {
      const store = LmdbStore.open(`${folder}/${name}`);
      try {
        const { timelines = [], shards } = (await store.meta.tryRead()) as StoreMeta;
        const heads = await Promise.all(Array.from({ length: shards }, (_, shard) => store.wal.head(shard)));
        assert.deepEqual(
          timelines.at(-1)?.after,
          heads.map(({ lsn }) => formatLsn(lsn)),
        );
        return timelines;
      } finally {
        await store.close();
      }
    };
    const [first, ...later] = await timelinesIn('data');
    assert.deepEqual(later, []);
    const [sameFirst, second] = await timelinesIn('copy');
    assert.deepEqual(sameFirst, first);
    assert.notEqual(second?.id, first?.id);
  }));

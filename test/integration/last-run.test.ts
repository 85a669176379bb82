import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/logger.js';
import { LastRun } from '../../src/node/folder/last-run.js';
import { EXIT } from '../../src/node/settings/exit-codes.js';
import { Scrape } from '../support/scrape.js';
import { inTempFolder } from '../support/temp-folder.js';
import { WalletdProcess } from '../support/walletd-process.js';

test('a process records how it ended, and the next one reports it', () =>
  inTempFolder(async (folder) => {
    const env = { WALLETD_STORE: `lmdb:${folder}/data`, WALLETD_WORKERS: '0' };
    const next = async () => {
      const walletd = await WalletdProcess.start(env);
      const [series] = (await Scrape.of(walletd.adminUrl))
        .series('walletd_last_exit')
        .filter(({ value }) => value === '1');
      return { walletd, last: series?.labels?.reason };
    };
    const first = await next();
    assert.equal(first.last, 'none');
    await first.walletd.end('SIGKILL');
    const second = await next();
    assert.equal(second.last, 'crashed');
    assert.ok(second.walletd.log.some(({ code }) => code === 'previous-run-killed'));
    await second.walletd.end('SIGTERM');
    assert.equal(LastRun.read(`${folder}/data/node`, env.WALLETD_STORE, silentLogger).end, 'stopped');
  }));

test('a process that another machine has fenced reports the fence when restarted', () =>
  inTempFolder(async (folder) => {
    for (const [exitCode, end] of [
      [EXIT.fenced, 'fenced'],
      [EXIT.failure, 'failed'],
      [EXIT.ok, 'stopped'],
    ] as const) {
      const run = LastRun.read(folder, 'a store', silentLogger);
      run.begin();
      run.ended(exitCode);
      assert.equal(LastRun.read(folder, 'a store', silentLogger).end, end);
      assert.equal(LastRun.read(folder, 'another store', silentLogger).end, 'none');
    }
  }));

test('a start that never reaches the store keeps the earlier record', () =>
  inTempFolder(async (folder) => {
    const serving = LastRun.read(folder, 'a store', silentLogger);
    serving.begin();
    const refused = LastRun.read(folder, 'a store', silentLogger);
    refused.ended(EXIT.failure);
    serving.ended(EXIT.ok);
    assert.equal(LastRun.read(folder, 'a store', silentLogger).end, 'stopped');
  }));

test('a takeover from a living process does not report a crash', () =>
  inTempFolder(async (folder) => {
    LastRun.read(folder, 'a store', silentLogger).begin();
    const [file = ''] = readdirSync(folder);
    const note = JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as object;
    writeFileSync(`${folder}/${file}`, JSON.stringify({ ...note, pid: process.ppid }));
    assert.equal(LastRun.read(folder, 'a store', silentLogger).end, 'running');
    writeFileSync(`${folder}/${file}`, '{"half');
    assert.equal(LastRun.read(folder, 'a store', silentLogger).end, 'none');
  }));

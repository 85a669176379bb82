import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { bet, PlatformClient } from '../support/client.js';
import { Scrape } from '../support/scrape.js';
import { inTempFolder } from '../support/temp-folder.js';
import { runWalletd, WalletdProcess } from '../support/walletd-process.js';

const DAY_SECONDS = 86_400;
/** A command that shifts only the process's wall clock, so that durations stay correct. */
const ahead = (days: number) => ['faketime', '-m', '--exclude-monotonic', '-f', `+${days}d`];

const hasFaketime = spawnSync('faketime', ['--version']).error === undefined;
const codesOf = ({ log }: WalletdProcess) => log.flatMap(({ code }) => (code === undefined ? [] : [code]));

async function metricOf({ adminUrl }: WalletdProcess, metric: string): Promise<number> {
  const [series] = (await Scrape.of(adminUrl)).series(metric);
  return Number(series?.value);
}

/** Codes of log lines that every start with default settings writes. */
const AS_IT_COMES = ['hand-unlimited'];

async function play(walletd: WalletdProcess, id: string): Promise<void> {
  const put = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{"currency":"THB"}' };
  await fetch(`${walletd.adminUrl}/v1/players/ann`, put);
  const post = { ...put, method: 'POST', body: JSON.stringify({ id, amount: 10 }) };
  await fetch(`${walletd.adminUrl}/v1/players/ann/deposits`, post);
  const platform = new PlatformClient(walletd.callbackUrl);
  const { statusCode } = await platform.post('placeBets', bet('ann', id));
  platform.close();
  assert.equal(statusCode, 0);
}

test("a confirmed clock corrects a log with a wrong clock's time", { skip: !hasFaketime && 'no faketime' }, () =>
  inTempFolder(async (folder) => {
    const env = { WALLETD_STORE: `lmdb:${folder}/data`, WALLETD_WORKERS: '0' };
    const first = await WalletdProcess.start(env);
    await play(first, 'a');
    assert.equal(await metricOf(first, 'walletd_log_time_ahead_seconds'), 0);
    await first.end('SIGTERM');

    const wrong = await WalletdProcess.start(env, ahead(400));
    await wrong.waitFor(({ code }) => code === 'clock-unconfirmed');
    assert.ok((await metricOf(wrong, 'walletd_clock_unconfirmed_seconds')) > 390 * DAY_SECONDS);
    await play(wrong, 'b');
    await wrong.end('SIGTERM');

    const frozen = await WalletdProcess.start(env);
    await frozen.waitFor(({ code }) => code === 'log-time-ahead');
    assert.ok((await metricOf(frozen, 'walletd_log_time_ahead_seconds')) > 390 * DAY_SECONDS);
    const status = runWalletd(['status', '--server', frozen.adminUrl], env);
    assert.match(status.stdout, /WRONG +Log time is 400 days ahead/);
    assert.equal(status.status, 1);
    await play(frozen, 'c');
    await frozen.end('SIGTERM');
    assert.match(runWalletd(['doctor'], env).stdout, /bad +log time +the newest entry is 400 days ahead/);

    const today = new Date().toISOString().slice(0, 10);
    const confirmed = await WalletdProcess.start({ ...env, WALLETD_CLOCK_CONFIRMED_ON: today });
    assert.deepEqual(codesOf(confirmed), AS_IT_COMES);
    await play(confirmed, 'd');
    await confirmed.end('SIGTERM');

    const cured = await WalletdProcess.start(env);
    assert.deepEqual(codesOf(cured), AS_IT_COMES);
    assert.equal(await metricOf(cured, 'walletd_log_time_ahead_seconds'), 0);
    await play(cured, 'e');
    await cured.end('SIGKILL');
    const verified = runWalletd(['verify', '--deep'], env);
    assert.equal(verified.status, 0, verified.stdout + verified.stderr);
  }),
);

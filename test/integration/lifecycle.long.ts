import assert from 'node:assert/strict';
import { test } from 'node:test';
import { balanceOf, bet, importPlayers, PlatformClient } from '../support/client.js';
import { runCommand } from '../support/run-command.js';
import { inTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { LAUNCHED, WalletdProcess } from '../support/walletd-process.js';

const withStore = (run: (store: string) => Promise<void>) => inTempFolder((folder) => run(`lmdb:${folder}/data`));

test('serve reports its address and store, and a second start finds all data', () =>
  withStore(async (store) => {
    const first = await WalletdProcess.start({ WALLETD_STORE: store }, [], LAUNCHED);
    const ready = await first.waitFor((line) => line.msg === 'walletd is ready');
    assert.match(String(ready.store), /^lmdb:\/.*\/data$/);
    assert.match(String(ready.durability), /fsync/);
    await importPlayers(first.adminUrl, ['ann'], 100);
    const client = new PlatformClient(first.callbackUrl);
    await client.post('placeBets', bet('ann', 't1', 10));
    client.close();
    assert.equal(await first.end('SIGTERM'), 0);

    const second = await WalletdProcess.start({ WALLETD_STORE: store }, [], LAUNCHED);
    assert.equal(await balanceOf(second.adminUrl, 'ann'), 90);
    assert.equal(await second.end('SIGINT'), 0);
    assert.equal(first.errors + second.errors, '');
  }));

test('SIGTERM under load loses no answer and truncates none', () =>
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

test('a second process takes over the store, and the first one exits', () =>
  withStore(async (store) => {
    const first = await WalletdProcess.start({ WALLETD_STORE: store });
    await importPlayers(first.adminUrl, ['ann', 'bob', 'cat', 'dan'], 100);
    const client = new PlatformClient(first.callbackUrl);
    await client.post('placeBets', bet('ann', 't1', 10));
    const second = await WalletdProcess.start({ WALLETD_STORE: store });
    const late = await client.post('placeBets', bet('ann', 't2', 10)).catch(() => undefined);
    assert.ok(late === undefined || late.statusCode === 50001, 'no answer by the former owner');
    assert.equal(await first.exit(), 3);
    const fenced = first.log.find(({ code }) => code === 'store-fenced');
    assert.match(String(fenced?.takenBy), new RegExp(`^process ${second.pid} on `));
    assert.equal(await balanceOf(second.adminUrl, 'ann'), 90);
    client.close();
    await second.end('SIGTERM');
  }));

test('of two processes started together, one serves; no entry is duplicated', () =>
  withStore(async (store) => {
    await runCommand(['init'], { WALLETD_STORE: store });
    for (let round = 0; round < 3; round++) {
      const starts = await Promise.allSettled([0, 1].map(() => WalletdProcess.start({ WALLETD_STORE: store })));
      const started = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
      const reasons = starts.map((start) => (start.status === 'rejected' ? String(start.reason) : 'started'));
      assert.ok(started.length >= 1, reasons.join('\n'));
      // If both have started, the later process has fenced the earlier one, which notices the fence at its next
      // operation.
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

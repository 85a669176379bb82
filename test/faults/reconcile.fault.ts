import assert from 'node:assert/strict';
import { statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { balanceOf, bet, importPlayers, PlatformClient, type RequestBody, settlement } from '../support/client.js';
import { until } from '../support/until.js';
import { runWalletd } from '../support/walletd-process.js';
import { Machine } from './machine.js';
import { Night, replay } from './night.js';
import { proveNothingLost } from './night-proof.js';
import { rareFault } from './scene.js';
import { SmallDisk } from './small-disk.js';

const TOKEN = 'of-whoever-corrects-at-night';
const MINUTE_MS = 60_000;

/** The platform's record of a bet from `client.ts`. */
function record(betId: string, betStatus: string, payout: number, username = 'ann', stake = 1): object {
  return {
    ...{ betId, username, currency: 'THB', productId: 'P', roundId: `r-${betId}` },
    ...{ stake, payout, betStatus, updatedDate: new Date().toISOString() },
  };
}

const lines = (records: readonly object[]) => records.map((one) => `${JSON.stringify(one)}\n`).join('');

function cancel(id: string): RequestBody {
  const txn = { id, roundId: `r-${id}`, status: 'REFUND', betAmount: 1, gameCode: 'g', playInfo: 'p' };
  const txns = [{ ...txn, transactionType: 'BY_TRANSACTION' }];
  return { id: `c-${id}`, timestampMillis: 1, productId: 'P', currency: 'THB', username: 'ann', txns };
}

replay(10, 'explained differences resolve, and the rest is corrected once', async (scene) => {
  const redis = await scene.redis();
  const machine = await Machine.of(scene, { WALLETD_STORE: redis.url });
  const { load, walletd } = machine;
  await delay(500);
  load.rest();
  await until('all rounds are settled', () => load.sent.every(({ outcome }) => outcome !== 'pending'));
  await delay(100);
  await importPlayers(walletd.adminUrl, ['ann'], 100);
  const platform = new PlatformClient(walletd.callbackUrl);
  scene.atEnd(() => platform.close());
  const accepted = async (endpoint: string, body: object) =>
    assert.equal((await platform.post(endpoint, body)).statusCode, 0, endpoint);
  for (const id of ['good', 'less', 'unsettled', 'cancelled']) await accepted('placeBets', bet('ann', id));
  for (const id of ['good', 'less']) await accepted('settleBets', settlement('ann', id, 2));
  const history = join(scene.makeFolder(), 'bets.jsonl');
  const ids = load.sent
    .filter(({ endpoint }) => endpoint === 'placeBets')
    .map(({ body, username }) => [body.id.slice(2), username]);
  const others = ids.map(([id = '', username]) => record(id, 'SETTLED', 5, username, 3));
  const reported = ['good', 'less', 'unsettled', 'unknown'].map((id) =>
    record(id, 'SETTLED', id === 'less' ? 14.5 : 2),
  );
  writeFileSync(history, lines([...others, ...reported]));
  const night = new Night(machine, 10, {
    ...{ HISTORY: history, PLAYER: 'ann', ID: 'less', TOKEN, OPERATOR_API: walletd.adminUrl },
    SINCE: new Date(Date.now() - 60 * MINUTE_MS).toISOString(),
    UNTIL: new Date(Date.now() + 60 * MINUTE_MS).toISOString(),
  });

  assert.deepEqual(differencesIn(await night.run({ exit: 1 })).sort(), [
    'missing-here unknown',
    'missing-there cancelled',
    'payout less',
    'state unsettled',
  ]);
  await night.run();
  assert.match(await night.run(), /bet-settled +P +r-less/);
  await night.byHand('ask the platform for the missing callback', async () => {
    await accepted('placeBets', bet('ann', 'unknown'));
    for (const id of ['unknown', 'unsettled']) await accepted('settleBets', settlement('ann', id, 2));
    await accepted('cancelBets', cancel('cancelled'));
  });
  const before = await balanceOf(walletd.adminUrl, 'ann');
  await night.run();
  await night.runAgain();
  assert.equal(await balanceOf(walletd.adminUrl, 'ann'), before + 12.5);
  assert.deepEqual(differencesIn(await night.run({ exit: 1 })), ['payout less']);
  night.end();
  scene.say(await proveNothingLost(machine));
});

function differencesIn(said: string): string[] {
  const [table = ''] = said.split(/^\d+ differences?:\n\n/m)[1]?.split('\n\n') ?? [];
  const rows = table.trimEnd().split('\n').slice(1);
  return rows.map((row) => row.split(/ {2,}/)).map((columns) => `${columns[0]} ${columns[4]}`);
}

rareFault('reconcile reports a full temporary disk and leaves no files', async (scene) => {
  const disk = SmallDisk.tryMount(scene, 1);
  if (disk === undefined) return scene.skip('only root can mount a small disk');
  const folder = scene.makeFolder();
  const walletd = await scene.walletd(`lmdb:${folder}/store`);
  await importPlayers(walletd.adminUrl, ['ann'], 100);
  const history = join(folder, 'bets.jsonl');
  // Make the record so long that it is written at once instead of being buffered.
  const roundId = 'r'.repeat(50_000);
  writeFileSync(history, lines(Array.from({ length: 50 }, (_, i) => ({ ...record(`b${i}`, 'SETTLED', 2), roundId }))));
  const args = ['reconcile', '--from', history, '--store', `lmdb:${folder}/store`];
  const full = runWalletd(args, { TMPDIR: disk.path });
  assert.deepEqual([full.status, full.stdout], [1, '']);
  assert.match(
    full.stderr,
    /^walletd: no space for temporary files in \S+ \(set TMPDIR to use another folder\): ENOSPC/m,
  );
  const { bfree, blocks } = statfsSync(disk.path);
  assert.equal(bfree, blocks);
  const roomy = runWalletd(args, { TMPDIR: folder });
  assert.match(roomy.stdout, /^50 differences:$/m);
  assert.equal(await balanceOf(walletd.adminUrl, 'ann'), 100);
});

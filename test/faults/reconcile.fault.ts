import assert from 'node:assert/strict';
import { statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { balanceOf, bet, importPlayers, PlatformClient, type RequestBody, settlement } from '../support/client.js';
import { runWalletd } from '../support/walletd-process.js';
import { Night } from './night.js';
import { fault } from './scene.js';
import { SmallDisk } from './small-disk.js';

const TOKEN = 'of-whoever-corrects-at-night';
const MINUTE_MS = 60_000;

/** As the platform tells of a bet of `client.ts`. */
function record(betId: string, betStatus: string, payout: number): object {
  return {
    ...{ betId, username: 'ann', currency: 'THB', productId: 'P', roundId: `r-${betId}` },
    ...{ stake: 1, payout, betStatus, updatedDate: new Date().toISOString() },
  };
}

const lines = (records: readonly object[]) => records.map((one) => `${JSON.stringify(one)}\n`).join('');

function cancel(id: string): RequestBody {
  const txn = { id, roundId: `r-${id}`, status: 'REFUND', betAmount: 1, gameCode: 'g', playInfo: 'p' };
  const txns = [{ ...txn, transactionType: 'BY_TRANSACTION' }];
  return { id: `c-${id}`, timestampMillis: 1, productId: 'P', currency: 'THB', username: 'ann', txns };
}

fault(
  'night 10: differences are understood, callbacks come after all, and what none can mend is corrected once',
  async (scene) => {
    const redis = await scene.redis();
    const walletd = await scene.walletd(redis.url);
    await importPlayers(walletd.adminUrl, ['ann'], 100);
    const platform = new PlatformClient(walletd.callbackUrl);
    scene.atEnd(() => platform.close());
    const accepted = async (endpoint: string, body: object) =>
      assert.equal((await platform.post(endpoint, body)).statusCode, 0, endpoint);
    for (const id of ['good', 'less', 'unsettled', 'cancelled']) await accepted('placeBets', bet('ann', id));
    for (const id of ['good', 'less']) await accepted('settleBets', settlement('ann', id, 2));
    const history = join(scene.makeFolder(), 'bets.jsonl');
    const told = ['good', 'less', 'unsettled', 'unknown'].map((id) => record(id, 'SETTLED', id === 'less' ? 14.5 : 2));
    writeFileSync(history, lines(told));
    const night = new Night(scene, "10. The platform's history differs", {
      ...{ STORE: redis.url, HISTORY: history, PLAYER: 'ann', ID: 'less', TOKEN, OPERATOR_API: walletd.adminUrl },
      SINCE: new Date(Date.now() - 60 * MINUTE_MS).toISOString(),
      UNTIL: new Date(Date.now() + 60 * MINUTE_MS).toISOString(),
    });
    const compare = 'walletd reconcile --from $HISTORY --since $SINCE --until $UNTIL --store $STORE';
    const differences = () => {
      const { status, stdout } = night.try(compare);
      assert.equal(status, 1, stdout);
      const [table = ''] = stdout.split(/^\d+ differences?:\n\n/m)[1]?.split('\n\n') ?? [];
      const rows = table.trimEnd().split('\n').slice(1);
      return rows.map((row) => row.split(/ {2,}/)).map((columns) => `${columns[0]} ${columns[4]}`);
    };

    assert.deepEqual(differences().sort(), [
      'missing-here unknown',
      'missing-there cancelled',
      'payout less',
      'state unsettled',
    ]);
    await night.run('walletd verify --store $STORE');
    assert.match(await night.run('walletd inspect txn $ID --player $PLAYER --store $STORE'), /bet-settled +P +r-less/);

    await accepted('placeBets', bet('ann', 'unknown'));
    for (const id of ['unknown', 'unsettled']) await accepted('settleBets', settlement('ann', id, 2));
    await accepted('cancelBets', cancel('cancelled'));
    assert.deepEqual(differences(), ['payout less']);

    const before = await balanceOf(walletd.adminUrl, 'ann');
    for (let time = 0; time < 2; time++) night.runInShell('curl');
    assert.equal(await balanceOf(walletd.adminUrl, 'ann'), before + 12.5);
    assert.deepEqual(differences(), ['payout less']);
    await night.run('walletd verify --store $STORE');
  },
);

fault('reconcile: the disk for its temporary files is full: it says so, and leaves nothing there', async (scene) => {
  const disk = SmallDisk.maybeMount(scene, 1);
  if (disk === undefined) return scene.skip('nobody but root mounts a small disk');
  const folder = scene.makeFolder();
  const walletd = await scene.walletd(`lmdb:${folder}/store`);
  await importPlayers(walletd.adminUrl, ['ann'], 100);
  const history = join(folder, 'bets.jsonl');
  // What does not wait in memory until there is more of it.
  const roundId = 'r'.repeat(50_000);
  writeFileSync(history, lines(Array.from({ length: 50 }, (_, i) => ({ ...record(`b${i}`, 'SETTLED', 2), roundId }))));
  const args = ['reconcile', '--from', history, '--store', `lmdb:${folder}/store`];
  const full = runWalletd(args, { TMPDIR: disk.path });
  assert.deepEqual([full.status, full.stdout], [1, '']);
  assert.match(full.stderr, /^walletd: no room for temporary files in \S+ \(TMPDIR names another folder\): ENOSPC/m);
  const { bfree, blocks } = statfsSync(disk.path);
  assert.equal(bfree, blocks);
  const roomy = runWalletd(args, { TMPDIR: folder });
  assert.match(roomy.stdout, /^50 differences:$/m);
  assert.equal(await balanceOf(walletd.adminUrl, 'ann'), 100);
});

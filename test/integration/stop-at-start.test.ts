import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/logger.js';
import { WalletNode } from '../../src/node/boot/wallet-node.js';
import { shardOf } from '../../src/threads/placement.js';
import { balanceOf, bet, importPlayers, PlatformClient } from '../support/client.js';
import { settingsWith } from '../support/settings.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const HALF_OPEN_WORKER = new URL('../support/half-open-worker.js', import.meta.url);

test('a stop during recovery finishes the callbacks of shards that already serve', async () => {
  const folder = makeTempFolder();
  const fixed = { store: `lmdb:${folder.path}/store`, nodeFolder: `${folder.path}/node`, port: 0, 'admin.port': 0 };
  const settings = settingsWith({
    ...fixed,
    workers: 2,
    shards: 2,
    'log.metricsSeconds': 0,
    'log.level': 'silent',
    requestDeadlineMs: 60_000,
  });
  const node = await WalletNode.open({ settings, sources: new Map() }, silentLogger, () => {}, HALF_OPEN_WORKER);
  const started = node.start();
  const ann = Array.from({ length: 100 }, (_, i) => `player${i}`).find((name) => shardOf(name, 2) === 0) as string;
  await until('the listeners', () => node.adminPort > 0);
  const adminUrl = `http://127.0.0.1:${node.adminPort}`;
  await until('the first worker', async () => {
    // A line is refused while the player's shard starts.
    await importPlayers(adminUrl, [ann], 1000).catch(() => {});
    return (await balanceOf(adminUrl, ann).catch(() => undefined)) === 1000;
  });
  const client = new PlatformClient(`http://127.0.0.1:${node.callbackPort}`);
  const all = (round: string) => Array.from({ length: 50 }, (_, i) => client.post('placeBets', bet(ann, round + i, 1)));
  const before = await Promise.all(all('before'));
  const sent = all('during');
  const during = Promise.all(sent);
  await Promise.race(sent);
  await node.stop();
  // Rejects if a connection broke. Callbacks that arrived after the signal are answered with a request to retry.
  const codes = [...before, ...(await during)].map(({ statusCode }) => statusCode);
  assert.ok(
    codes.every((code) => code === 0 || code === 50001),
    codes.join(),
  );
  assert.ok(codes.lastIndexOf(0) >= before.length, 'some were in flight');
  await started;
  client.close();
  folder.remove();
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sentinels } from '../faults/sentinels.js';
import { makeCertificate } from '../support/certificate.js';
import { bet, importPlayers, PlatformClient } from '../support/client.js';
import { freePort } from '../support/free-port.js';
import { RedisServer } from '../support/redis-server.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { runWalletd, WalletdProcess } from '../support/walletd-process.js';

const PASSWORD = 'p@ss:word';
const LOGIN = `?sentinel=:${encodeURIComponent(PASSWORD)}`;

test('walletd follows a failover of sentinels with TLS and a password', async () => {
  const folder = makeTempFolder();
  const certificate = makeCertificate(folder.path, '127.0.0.1');
  const secured = {
    'tls-cert-file': certificate.certificateFile,
    'tls-key-file': certificate.keyFile,
    'tls-ca-cert-file': certificate.certificateFile,
    'tls-auth-clients': 'no',
    'tls-replication': 'yes',
  };
  const masterPort = await freePort();
  const master = await RedisServer.start({ ...secured, 'tls-port': String(masterPort) });
  const replicaOf = { replicaof: `127.0.0.1 ${masterPort}`, 'tls-port': String(await freePort()) };
  const replica = await RedisServer.start({ ...secured, ...replicaOf });
  await until('the replica is in step', () => master.hasReplica());
  const sentinels = await Sentinels.watch({ port: masterPort }, 1, undefined, {
    password: PASSWORD,
    certificate,
  });
  const trusting = {
    WALLETD_STORE: `${sentinels.url}${LOGIN}`,
    WALLETD_NODE_FOLDER: `${folder.path}/node`,
    NODE_EXTRA_CA_CERTS: certificate.certificateFile,
    WALLETD_INIT: 'auto',
  };

  const walletd = await WalletdProcess.start(trusting);
  const client = new PlatformClient(walletd.callbackUrl);
  await importPlayers(walletd.adminUrl, ['ann'], 1000);
  assert.equal((await client.post('placeBets', bet('ann', 'b1'))).statusCode, 0);
  await master.end();
  await until('the sentinels promote the replica', () => sentinels.otherMaster(masterPort));
  const second = bet('ann', 'b2');
  await until('an answer from the new master', async () => (await client.post('placeBets', second)).statusCode === 0);
  client.close();
  assert.equal(await walletd.end('SIGTERM'), 0);

  for (const [changes, sentence] of [
    [{ WALLETD_STORE: sentinels.url }, /the sentinels require their own password: end WALLETD_STORE with \?sent/],
    [{ WALLETD_STORE: `${sentinels.url}?sentinel=:wrong` }, /the sentinels do not accept the user or password after/],
    [{ NODE_EXTRA_CA_CERTS: '' }, /the TLS certificate is refused: NODE_EXTRA_CA_CERTS must name .*self-signed/],
  ] as const) {
    const { status, stdout, stderr } = runWalletd(['serve'], { ...trusting, ...changes });
    assert.equal(status, 1, stderr);
    assert.match(stderr, sentence);
    assert.doesNotMatch(stdout + stderr, /p@ss|p%40ss|waiting for the store/);
  }
  await sentinels.destroy();
  for (const server of [replica, master]) await server.destroy();
  folder.remove();
});

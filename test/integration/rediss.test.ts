import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type CertificateFiles, makeCertificate } from '../support/certificate.js';
import { balanceOf, bet, importPlayers, PlatformClient } from '../support/client.js';
import { freePort } from '../support/free-port.js';
import { RedisServer } from '../support/redis-server.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { runWalletd, WalletdProcess } from '../support/walletd-process.js';

const PASSWORD = 'p@ss/word:%';
const DATABASE = 3;
const folder = makeTempFolder();
let certificate: CertificateFiles;
let redis: RedisServer;
let store: string;

before(async () => {
  certificate = makeCertificate(folder.path, 'localhost');
  const tlsPort = await freePort();
  redis = await RedisServer.start({
    'tls-port': String(tlsPort),
    'tls-cert-file': certificate.certificateFile,
    'tls-key-file': certificate.keyFile,
    'tls-auth-clients': 'no',
  });
  await redis.call('ACL', 'SETUSER', 'wallet', 'on', `>${PASSWORD}`, '~*', '+@all');
  store = `rediss://wallet:${encodeURIComponent(PASSWORD)}@localhost:${tlsPort}/${DATABASE}`;
});
after(async () => {
  await redis?.destroy();
  folder.remove();
});

/**
 * Node.js reads NODE_EXTRA_CA_CERTS only at startup. An operator with a private CA sets this variable for every Node.js
 * program.
 */
const trusting = () => ({ WALLETD_STORE: store, NODE_EXTRA_CA_CERTS: certificate.certificateFile });

test('bets over TLS in a separate database survive kill -9', async () => {
  const first = await WalletdProcess.start({ ...trusting(), WALLETD_INIT: 'auto' });
  await importPlayers(first.adminUrl, ['ann'], 100);
  const platform = new PlatformClient(first.callbackUrl);
  assert.equal((await platform.post('placeBets', bet('ann', 't1', 10))).balanceAfter, 90);
  platform.close();
  await first.end('SIGKILL');

  const second = await WalletdProcess.start(trusting());
  assert.equal(await balanceOf(second.adminUrl, 'ann'), 90);
  assert.equal(await second.end('SIGTERM'), 0);
  assert.match(String(await redis.call('INFO', 'keyspace')), new RegExp(`^db${DATABASE}:`, 'm'));
});

test('an untrusted certificate is refused, and no error contains the password', () => {
  const { status, stdout, stderr } = runWalletd(['serve'], { WALLETD_STORE: store });
  assert.notEqual(status, 0);
  assert.match(stdout + stderr, /self-signed certificate/);
  assert.doesNotMatch(stdout + stderr, /p@ss|p%40ss/);
});

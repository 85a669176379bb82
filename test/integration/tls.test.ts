import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { after, before, test } from 'node:test';
import { connect } from 'node:tls';
import { type CertificateFiles, makeCertificate } from '../support/certificate.js';
import { bet } from '../support/client.js';
import { postOf, rawRequest } from '../support/raw-request.js';
import { runCommand } from '../support/run-command.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { WalletdProcess } from '../support/walletd-process.js';

const TOKEN = 'a-token-of-operators';
const folder = makeTempFolder();
let store = 0;
let callbacks: CertificateFiles;
let operators: CertificateFiles;
let walletd: WalletdProcess;

const newStore = () => `lmdb:${folder.path}/data-${store++}`;

before(async () => {
  callbacks = makeCertificate(folder.path, 'callbacks.test');
  operators = makeCertificate(folder.path, 'operators.test');
  walletd = await WalletdProcess.start({ ...environment(), WALLETD_STORE: newStore() });
});
after(async () => {
  await walletd?.end('SIGTERM');
  folder.remove();
});

function environment(): Record<string, string> {
  return {
    WALLETD_TLS_CERTIFICATE_FILE: callbacks.certificateFile,
    WALLETD_TLS_KEY_FILE: callbacks.keyFile,
    WALLETD_ADMIN_TLS_CERTIFICATE_FILE: operators.certificateFile,
    WALLETD_ADMIN_TLS_KEY_FILE: operators.keyFile,
    WALLETD_ADMIN_TOKEN: TOKEN,
  };
}

interface Asked {
  readonly method?: string;
  readonly body?: string;
  readonly type?: string;
}

/** Sends a request for the given host name, trusting only this certificate. */
function ask(url: string, { certificateFile }: CertificateFiles, name: string, asked: Asked = {}): Promise<string> {
  const { method = 'POST', body = '', type = 'application/json' } = asked;
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) };
  const options = { method, headers, ca: readFileSync(certificateFile), servername: name };
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (res) => {
      let text = '';
      res.on('data', (data: Buffer) => {
        text += data.toString();
      });
      res.on('end', () => resolve(text));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

test('both listeners use TLS, each with its own certificate', async () => {
  assert.match(walletd.callbackUrl, /^https:/);
  assert.match(walletd.adminUrl, /^https:/);
  const line = '{"id":"open","username":"ann","currency":"THB","balance":100}';
  const players = { type: 'application/x-ndjson', body: line };
  assert.match(await ask(`${walletd.adminUrl}/v1/players:import`, operators, 'operators.test', players), /"created":1/);
  const placed = { body: JSON.stringify(bet('ann', 't1', 10)) };
  const answer = await ask(`${walletd.callbackUrl}/placeBets`, callbacks, 'callbacks.test', placed);
  assert.match(answer, /"statusCode":0,.*"balanceAfter":90/);
});

test('a body in many TLS records is accepted up to the size limit', async () => {
  const url = `${walletd.callbackUrl}/placeBets`;
  const large = JSON.stringify(bet('ann', 't2')).padEnd(200_000);
  assert.match(await ask(url, callbacks, 'callbacks.test', { body: large }), /"statusCode":0/);
  const tooLarge = await ask(url, callbacks, 'callbacks.test', { body: large.padEnd(270_000) }).catch(
    (error: NodeJS.ErrnoException) => error.code,
  );
  assert.match(String(tooLarge), /40003|ECONNRESET|EPIPE/);
});

test('versions before TLS 1.2 and plain HTTP are refused', async () => {
  for (const url of [walletd.callbackUrl, walletd.adminUrl]) {
    const port = Number(new URL(url).port);
    const versions = { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' } as const;
    await assert.rejects(
      new Promise((resolve, reject) => {
        const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...versions }, () => {
          resolve(socket.getProtocol());
          socket.destroy();
        });
        socket.on('error', reject);
      }),
    );
    assert.doesNotMatch(await rawRequest(url, [postOf('/placeBets', '{}')]), /statusCode|players/);
  }
});

test('the CLI connects to its server over TLS only with the configured certificate', async () => {
  const port = new URL(walletd.adminUrl).port;
  const env = { ...environment(), WALLETD_ADMIN_PORT: port, WALLETD_STORE: `lmdb:${folder.path}/data-0` };
  const taken = await runCommand(['snapshot', 'take', '--json'], env);
  assert.equal(taken.status, 0, taken.stderr);
  assert.match(taken.stdout, /"type":"taken"/);
  const others = {
    WALLETD_ADMIN_TLS_CERTIFICATE_FILE: callbacks.certificateFile,
    WALLETD_ADMIN_TLS_KEY_FILE: callbacks.keyFile,
  };
  const refused = await runCommand(['snapshot', 'take'], { ...env, ...others });
  assert.equal(refused.status, 1, refused.stdout);
});

import assert from 'node:assert/strict';
import { copyFileSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { type CertificateFiles, makeCertificate } from '../support/certificate.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { WalletdProcess } from '../support/walletd-process.js';

const folder = makeTempFolder();
/** Certificates that are put into the configured files in turn, and that both listeners serve. */
let all: readonly CertificateFiles[];
let inForce: CertificateFiles;
let walletd: WalletdProcess;

before(async () => {
  all = ['first.test', 'second.test', 'third.test'].map((name) => makeCertificate(folder.path, name));
  inForce = makeCertificate(folder.path, 'served.test');
  put(0);
  walletd = await WalletdProcess.start({
    WALLETD_STORE: `lmdb:${folder.path}/data`,
    WALLETD_TLS_CERTIFICATE_FILE: inForce.certificateFile,
    WALLETD_TLS_KEY_FILE: inForce.keyFile,
    WALLETD_ADMIN_TLS_CERTIFICATE_FILE: inForce.certificateFile,
    WALLETD_ADMIN_TLS_KEY_FILE: inForce.keyFile,
  });
});
after(async () => {
  await walletd?.end('SIGTERM');
  folder.remove();
});

function put(n: number): void {
  const { certificateFile, keyFile } = all[n] as CertificateFiles;
  copyFileSync(certificateFile, inForce.certificateFile);
  copyFileSync(keyFile, inForce.keyFile);
}

/**
 * Makes walletd reload its settings, and waits for `lines` more log lines whose code is `what` or whose message begins
 * with it.
 */
async function readAgain(what: string, lines: number): Promise<void> {
  const said = () => walletd.log.filter(({ code, msg }) => code === what || msg.startsWith(what)).length;
  const wanted = said() + lines;
  process.kill(walletd.pid, 'SIGHUP');
  await walletd.waitFor(() => said() >= wanted);
}

/** Opens a connection, with or without a server name. Resolves to the name in its certificate, and its answer. */
async function open(url: string, servername = '') {
  const port = Number(new URL(url).port);
  const socket = await new Promise<TLSSocket>((resolve, reject) => {
    const connecting = connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false }, () =>
      resolve(connecting),
    );
    connecting.on('error', reject);
  });
  const ask = () =>
    new Promise<string>((resolve, reject) => {
      socket.once('data', (data: Buffer) => resolve(data.toString().split('\r\n')[0] as string));
      socket.once('close', () => reject(new Error('the connection was closed')));
      socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
    });
  return { socket, ask, name: socket.getPeerCertificate().subject.CN };
}

test('after SIGHUP new connections get the new certificate; open ones continue', async () => {
  const urls = [walletd.callbackUrl, walletd.adminUrl];
  // The callback listener has no /livez, so it answers 404.
  const answers = ['HTTP/1.1 404 Not Found', 'HTTP/1.1 200 OK'];
  const kept = await Promise.all(urls.map((url) => open(url)));
  for (const [n, name] of ['first.test', 'second.test', 'third.test'].entries()) {
    if (n > 0) {
      put(n);
      await readAgain('certificate reloaded', 2);
    }
    for (const [i, url] of urls.entries()) {
      for (const servername of ['', name, 'first.test', 'unknown.test']) {
        const opened = await open(url, servername);
        assert.equal(opened.name, name, `${url} asked for ${servername}`);
        assert.equal(await opened.ask(), answers[i]);
        if (servername === '') kept.push(opened);
        else opened.socket.destroy();
      }
    }
    for (const [i, { ask }] of kept.entries()) assert.equal(await ask(), answers[i % 2], `connection ${i}`);
  }
  for (const { socket } of kept) socket.destroy();
});

test('unusable files keep the current certificate and log a warning', async () => {
  await open(walletd.callbackUrl);
  writeFileSync(inForce.keyFile, 'no key');
  await readAgain('certificate-not-reloaded', 2);
  const line = await walletd.waitFor(({ code }) => code === 'certificate-not-reloaded');
  assert.match(String(line.error), /served\.test\.key \(tls\.keyFile\) has no key that matches/);
  for (const url of [walletd.callbackUrl, walletd.adminUrl]) {
    const opened = await open(url);
    assert.equal(opened.name, 'third.test');
    opened.socket.destroy();
  }
  put(2);
});

test("a certificate's expiry is logged at the start and is a metric", async () => {
  const line = await walletd.waitFor(({ code }) => code === 'certificate-ends');
  assert.match(
    String(line.reason),
    /served\.test\.crt \(tls\.certificateFile\) ends at 20\S+Z: put a new one there, and send SIGHUP/,
  );
});

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { makeCertificate } from '../support/certificate.js';
import { balanceOf, importPlayers } from '../support/client.js';
import { runCommand } from '../support/run-command.js';
import { inTempFolder } from '../support/temp-folder.js';
import { WalletdProcess } from '../support/walletd-process.js';

const withStore = (run: (store: string) => Promise<void>) => inTempFolder((folder) => run(`lmdb:${folder}/data`));

test('a configuration that contradicts the store prevents the start with one sentence', () =>
  withStore(async (store) => {
    await runCommand(['init'], { WALLETD_STORE: store });
    const shards = await runCommand(['serve'], { WALLETD_STORE: store, WALLETD_SHARDS: '8' });
    assert.equal(shards.status, 2);
    assert.match(
      shards.stderr,
      /^walletd: shards is 8, but the store was created with 4: set WALLETD_SHARDS=4 \(store lmdb:.*\)\n$/,
    );
    const scale = await runCommand(['serve'], { WALLETD_STORE: store, WALLETD_MONEY_SCALE: '2' });
    assert.match(scale.stderr, /^walletd: money\.scale is 2, but the store was created with 4/);
  }));

test('with init never, an empty store is refused and nothing is created', () =>
  withStore(async (store) => {
    const refused = await runCommand(['serve'], { WALLETD_STORE: store, WALLETD_INIT: 'never' });
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /^walletd: there is no store at lmdb:.*walletd init/);
    await runCommand(['init'], { WALLETD_STORE: store });
    const walletd = await WalletdProcess.start({ WALLETD_STORE: store, WALLETD_INIT: 'never' });
    assert.equal(await walletd.end('SIGTERM'), 0);
  }));

test('a port that is in use prevents the start before a takeover', () =>
  withStore(async (store) => {
    const first = await WalletdProcess.start({ WALLETD_STORE: store });
    await importPlayers(first.adminUrl, ['ann'], 100);
    for (const variable of ['WALLETD_PORT', 'WALLETD_ADMIN_PORT']) {
      const url = variable === 'WALLETD_PORT' ? first.callbackUrl : first.adminUrl;
      const second = await runCommand(['serve'], { WALLETD_STORE: store, [variable]: new URL(url).port });
      assert.equal(second.status, 1);
      assert.match(second.stderr, /^walletd: cannot listen on \S+ for (callbacks|the operator API) \([^\n]*\n$/);
    }
    assert.equal(await balanceOf(first.adminUrl, 'ann'), 100);
    assert.equal(await first.end('SIGTERM'), 0);
  }));

test('a store that cannot be opened prevents the start with one sentence', () =>
  inTempFolder(async (folder) => {
    const server = createServer().listen(`${folder}/file`);
    const refused = await runCommand(['serve'], { WALLETD_STORE: `lmdb:${folder}/file/data` });
    server.close();
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /^walletd: cannot open the store lmdb:/);
  }));

test('a heap too small for its workers prevents the start with one sentence', async () => {
  const { status, stderr } = await runCommand(['serve'], {
    WALLETD_MEMORY_MAX_BYTES: String(128 * 1024 * 1024),
    WALLETD_WORKERS: '2',
    WALLETD_STORE: 'lmdb:/nowhere/at/all',
  });
  assert.equal(status, 2);
  assert.match(
    stderr,
    /^walletd: memory.maxBytes leaves a heap of 21 MiB to each of 3 threads, which needs 32: raise it, or use fewer workers\n$/,
  );
});

test('callbacks without keys or networks need --insecure on a non-local address', async () => {
  // Use a store that does not exist, so that no server can start.
  const env = { WALLETD_HOST: '0.0.0.0', WALLETD_STORE: 'lmdb:/nowhere/x', WALLETD_INIT: 'never' };
  const refused = await runCommand(['serve'], env);
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /^walletd: host is 0\.0\.0\.0, .* not authenticated: .* --insecure .*\n$/);
  const meant = await runCommand(['serve', '--insecure'], env);
  assert.equal(meant.status, 1);
  assert.match(meant.stderr, /^walletd: there is no store at/);
});

test('the operator API on a non-local address needs a token, even with --insecure', async () => {
  const refused = await runCommand(['serve', '--insecure'], {
    WALLETD_ADMIN_HOST: '0.0.0.0',
    WALLETD_STORE: 'lmdb:/nowhere/x',
  });
  assert.equal(refused.status, 2);
  assert.match(
    refused.stderr,
    /^walletd: admin\.host is 0\.0\.0\.0, which other machines can reach: set admin\.token .*\n$/,
  );
});

test('missing, invalid or mismatched TLS files prevent the start and name the setting', () =>
  inTempFolder(async (folder) => {
    const [callbacks, operators] = ['callbacks', 'operators'].map((name) => makeCertificate(folder, `${name}.test`));
    assert.ok(callbacks && operators);
    const env = {
      WALLETD_STORE: `lmdb:${folder}/data`,
      WALLETD_TLS_CERTIFICATE_FILE: callbacks.certificateFile,
      WALLETD_TLS_KEY_FILE: callbacks.keyFile,
      WALLETD_ADMIN_TLS_CERTIFICATE_FILE: operators.certificateFile,
      WALLETD_ADMIN_TLS_KEY_FILE: operators.keyFile,
    };
    const text = `${folder}/text`;
    writeFileSync(text, 'secret words');
    for (const [changes, sentence] of [
      [
        { WALLETD_TLS_KEY_FILE: '' },
        /^walletd: tls\.certificateFile and tls\.keyFile belong together: set both or none\n$/,
      ],
      [{ WALLETD_TLS_KEY_FILE: '/nowhere.key' }, /^walletd: cannot read \/nowhere\.key \(tls\.keyFile\): ENOENT.*\n$/],
      [{ WALLETD_ADMIN_TLS_KEY_FILE: folder }, /^walletd: cannot read .* \(admin\.tls\.keyFile\): EISDIR.*\n$/],
      [{ WALLETD_TLS_CERTIFICATE_FILE: text }, /^walletd: .*text \(tls\.certificateFile\) has no certificate: .*\n$/],
      [{ WALLETD_TLS_KEY_FILE: text }, /^walletd: .*text \(tls\.keyFile\) has no key that matches .*\n$/],
      [
        { WALLETD_TLS_KEY_FILE: operators.keyFile },
        /^walletd: .*operators.* \(tls\.keyFile\) has no key that matches .*\n$/,
      ],
    ] as const) {
      const refused = await runCommand(['serve'], { ...env, ...changes });
      assert.match(refused.stderr, sentence);
      assert.equal(refused.status, 2);
      assert.doesNotMatch(refused.stderr, /secret words/);
    }
  }));

test('serve --check reports whether it would start, and changes nothing', () =>
  withStore(async (store) => {
    const none = await runCommand(['serve', '--check'], { WALLETD_STORE: store });
    assert.equal(none.status, 0);
    assert.match(none.stdout, /it does not exist yet; the start creates it\.\nIt would start\.\n$/);
    const refused = await runCommand(['serve', '--check'], { WALLETD_STORE: store, WALLETD_INIT: 'never' });
    assert.equal(refused.status, 1);
    await runCommand(['init'], { WALLETD_STORE: store });
    const there = await runCommand(['serve', '--check'], { WALLETD_STORE: store });
    assert.match(there.stdout, /4 shards; fsync: .*\nIt would start\.\n$/);
    const differs = await runCommand(['serve', '--check'], { WALLETD_STORE: store, WALLETD_SHARDS: '8' });
    assert.equal(differs.status, 2);
    const missing = await runCommand(['serve', '--check'], {
      WALLETD_STORE: store,
      WALLETD_TLS_CERTIFICATE_FILE: '/nowhere.pem',
      WALLETD_TLS_KEY_FILE: '/nowhere.key',
    });
    assert.match(missing.stderr, /cannot read \/nowhere\.pem \(tls\.certificateFile\)/);
  }));

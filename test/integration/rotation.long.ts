import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseKeys, type SignatureKey } from '../../src/http/signature.js';
import { bet, importPlayers, PlatformClient } from '../support/client.js';
import { signedHeaders } from '../support/signed-headers.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { WalletdProcess } from '../support/walletd-process.js';

const ROTATIONS = 5;
const SENDERS = 16;
const READ_AGAIN = 'allowed callers and operator tokens reloaded';

/** Starts a walletd that reads its keys from a file, and a platform that signs with its current key. */
async function withSigned(
  run: (scene: {
    walletd: WalletdProcess;
    client: PlatformClient;
    signWith: (key: string) => void;
    /** Writes these keys to the file and reloads them. Resolves to the log line about the reload. */
    rotate: (keys: string, expected: string) => Promise<Record<string, unknown>>;
  }) => Promise<void>,
): Promise<void> {
  const folder = makeTempFolder();
  const file = `${folder.path}/keys`;
  writeFileSync(file, keyOf(0));
  const walletd = await WalletdProcess.start({
    WALLETD_STORE: `lmdb:${folder.path}/data`,
    WALLETD_SIGNATURE_KEYS_FILE: file,
  });
  let current: SignatureKey | undefined;
  const headersOf = (body: string) => {
    assert.ok(current);
    return signedHeaders(current.secret, body);
  };
  const signWith = (key: string) => {
    current = parseKeys(key)[0];
  };
  signWith(keyOf(0));
  const client = new PlatformClient(walletd.callbackUrl, 0, headersOf);
  let lines = 0;
  const rotate = async (keys: string, expected: string) => {
    writeFileSync(file, keys);
    process.kill(walletd.pid, 'SIGHUP');
    const wanted = ++lines;
    const of = () => walletd.log.filter(({ code, msg }) => code === 'settings-not-reloaded' || msg === READ_AGAIN);
    await walletd.waitFor(() => of().length >= wanted);
    const line = of()[wanted - 1];
    assert.ok(line);
    assert.equal(line.code ?? line.msg, expected);
    return line;
  };
  try {
    await importPlayers(walletd.adminUrl, ['ann'], 1_000_000);
    await run({ walletd, client, signWith, rotate });
  } finally {
    client.close();
    await walletd.end('SIGTERM');
    folder.remove();
  }
}

const keyOf = (n: number) => `key-${n}:the-secret-number-${n}`;

test('keys rotate under load without a failed request', () =>
  withSigned(async ({ client, signWith, rotate }) => {
    let isOver = false;
    const codes = new Map<number, number>();
    let answered = 0;
    const sender = async (name: number) => {
      for (let n = 0; !isOver; n++) {
        const { statusCode } = await client.post('placeBets', bet('ann', `${name}-${n}`));
        codes.set(statusCode, (codes.get(statusCode) ?? 0) + 1);
        answered++;
      }
    };
    const senders = Array.from({ length: SENDERS }, (_, name) => sender(name));
    for (let n = 1; n <= ROTATIONS; n++) {
      await rotate(`${keyOf(n - 1)}\n${keyOf(n)}\n`, READ_AGAIN);
      signWith(keyOf(n));
      // Wait for more answers, because requests signed with the old key are still in transit.
      const before = answered;
      await until('all sign with the new key', () => answered >= before + 3 * SENDERS);
      const line = await rotate(keyOf(n), READ_AGAIN);
      const uses = line.signedByKey as Record<string, number>;
      assert.ok((uses[`key-${n}`] as number) > 0, 'the log says which keys are in use');
      assert.match(String(line.callers), new RegExp(`^callers who sign with key-${n}$`));
      const again = await rotate(keyOf(n), READ_AGAIN);
      const usesAgain = again.signedByKey as Record<string, number>;
      assert.ok((usesAgain[`key-${n}`] as number) >= (uses[`key-${n}`] as number), 'a counter goes on');
    }
    isOver = true;
    await Promise.all(senders);
    assert.deepEqual([...codes.keys()], [0], JSON.stringify([...codes]));
    signWith(keyOf(0));
    assert.equal((await client.post('placeBets', bet('ann', 'late'))).statusCode, 30002, 'the first key is withdrawn');
  }));

test('unusable keys leave the current ones valid, and the log contains none', () =>
  withSigned(async ({ walletd, client, rotate }) => {
    for (const keys of ['', 'hunter2-hunter2-hunter2', `${keyOf(1)} ${keyOf(1)}`]) {
      const line = await rotate(keys, 'settings-not-reloaded');
      assert.match(String(line.error), /signature\.keys/);
      assert.equal((await client.post('placeBets', bet('ann', `t${keys.length}`))).statusCode, 0);
    }
    assert.doesNotMatch(JSON.stringify(walletd.log) + walletd.errors, /hunter2|the-secret/);
  }));

test('removing the keys from the file does not open a public listener', async () => {
  const folder = makeTempFolder();
  const file = `${folder.path}/settings.json`;
  // The settings treat this as a public address, but the system resolves it to 127.0.0.1.
  writeFileSync(file, JSON.stringify({ host: '127.1', signature: { keys: keyOf(0) } }));
  const walletd = await WalletdProcess.start({ WALLETD_STORE: `lmdb:${folder.path}/data`, WALLETD_CONFIG: file });
  const client = new PlatformClient(walletd.callbackUrl, 0);
  try {
    writeFileSync(file, '{"host": "127.0.0.1"}');
    process.kill(walletd.pid, 'SIGHUP');
    const line = await walletd.waitFor(({ code }) => code === 'settings-not-reloaded');
    assert.match(
      String(line.error),
      /^host is 127\.1, which other machines can reach, and callbacks are not authenticated/,
    );
    assert.equal((await client.post('placeBets', bet('ann', 't'))).statusCode, 30002);
  } finally {
    client.close();
    await walletd.end('SIGTERM');
    folder.remove();
  }
});

test('networks are also reloaded, but an invalid list keeps the previous one', async () => {
  const folder = makeTempFolder();
  const file = `${folder.path}/settings.json`;
  const write = (networks: string) => writeFileSync(file, JSON.stringify({ allow: { networks } }));
  write('127.0.0.1');
  const walletd = await WalletdProcess.start({ WALLETD_STORE: `lmdb:${folder.path}/data`, WALLETD_CONFIG: file });
  const client = new PlatformClient(walletd.callbackUrl, 0);
  const code = async () => (await client.post('placeBets', bet('nobody', 't'))).statusCode;
  const readAgain = async (what: string) => {
    process.kill(walletd.pid, 'SIGHUP');
    await walletd.waitFor(({ code, msg }) => code === what || msg === what);
  };
  try {
    assert.equal(await code(), 10001);
    write('127.0.0.1/33');
    await readAgain('settings-not-reloaded');
    assert.equal(await code(), 10001);
    write('192.0.2.0/24');
    await readAgain(READ_AGAIN);
    assert.equal(await code(), 40003);
  } finally {
    client.close();
    await walletd.end('SIGTERM');
    folder.remove();
  }
});

test('log level and callback logging are reloaded', async () => {
  const folder = makeTempFolder();
  const file = `${folder.path}/settings.json`;
  const write = (log: object) => writeFileSync(file, JSON.stringify({ log }));
  write({ callbacks: 'none' });
  const walletd = await WalletdProcess.start({ WALLETD_STORE: `lmdb:${folder.path}/data`, WALLETD_CONFIG: file });
  const client = new PlatformClient(walletd.callbackUrl, 0);
  const changed = () => walletd.log.filter(({ msg }) => msg === 'log.level changed').map(({ to }) => to);
  try {
    await client.post('placeBets', bet('nobody', 'unseen'));
    for (const level of ['warn', 'info']) {
      write({ callbacks: 'errors', level });
      process.kill(walletd.pid, 'SIGHUP');
      await walletd.waitFor(() => changed().at(-1) === level);
      await client.post('placeBets', bet('nobody', `at-${level}`));
    }
    await walletd.waitFor(({ requestId }) => requestId === 'q-at-info');
    const logged = walletd.log.filter(({ msg }) => msg === 'callback').map(({ requestId }) => requestId);
    assert.deepEqual(logged, ['q-at-info']);
  } finally {
    client.close();
    await walletd.end('SIGTERM');
    folder.remove();
  }
});

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { bet, PlatformClient } from '../support/client.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { WalletdProcess } from '../support/walletd-process.js';

const TOKEN = 'kX9-the-token-of-a-game';
const WRONG = 'kX9-somebody-elses-token';
const TIMEOUT_MS = 10_000;

test("a session's token appears in no log, answer or store file", async (t) => {
  const folder = makeTempFolder();
  t.after(() => folder.remove());
  const walletd = await WalletdProcess.start({
    WALLETD_STORE: `lmdb:${folder.path}`,
    WALLETD_SESSION_TOKEN: 'check',
    WALLETD_LOG_CALLBACKS: 'all',
    WALLETD_LOG_LEVEL: 'debug',
  });
  const answers: string[] = [];
  const operate = async (method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json' };
    const text = body === undefined ? {} : { body: JSON.stringify(body), headers };
    const response = await fetch(`${walletd.adminUrl}/v1/players/ann${path}`, { method, ...text });
    answers.push(await response.text());
    return response.status;
  };
  assert.equal(await operate('PUT', '', { currency: 'THB' }), 201);
  assert.equal(await operate('POST', '/deposits', { id: 'd', amount: 100 }), 200);
  assert.equal(await operate('PUT', '/session', { token: TOKEN }), 200);
  assert.equal(await operate('PUT', '/session', { token: TOKEN, surplus: TOKEN }), 400);
  assert.equal(await operate('GET', ''), 200);
  assert.equal(await operate('GET', '/operations'), 200);
  const client = new PlatformClient(walletd.callbackUrl, TIMEOUT_MS);
  const codes: number[] = [];
  for (const [n, sessionToken] of [TOKEN, WRONG, [TOKEN], undefined].entries()) {
    const answer = await client.post('placeBets', { ...bet('ann', `b${n}`), sessionToken });
    codes.push(answer.statusCode);
    answers.push(JSON.stringify(answer));
  }
  client.close();
  assert.deepEqual(codes, [0, 30_001, 30_001, 30_001]);
  await walletd.end('SIGTERM');
  const reported = [...answers, walletd.errors, ...walletd.log.map((line) => JSON.stringify(line))].join('\n');
  assert.ok(
    walletd.log.some((line) => JSON.stringify(line).includes('placeBets')),
    'callbacks were logged',
  );
  for (const secret of [TOKEN, WRONG]) {
    assert.ok(!reported.includes(secret), `${secret} was told`);
    for (const file of readdirSync(folder.path, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const bytes = readFileSync(join(file.parentPath, file.name));
      assert.equal(bytes.indexOf(secret), -1, `${secret} is in ${file.name}`);
    }
  }
});

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { WalletdProcess } from '../support/walletd-process.js';

const FIRST = 'first-token-of-anna';
const SECOND = 'second-token-of-anna';
const READ_AGAIN = 'allowed callers and operator tokens reloaded';

test('SIGHUP revokes a token and its sessions; an invalid file changes nothing', async (t) => {
  const folder = makeTempFolder();
  const file = `${folder.path}/token`;
  writeFileSync(file, FIRST);
  const walletd = await WalletdProcess.start({
    WALLETD_STORE: `lmdb:${folder.path}/data`,
    WALLETD_ADMIN_TOKEN_FILE: file,
  });
  t.after(async () => {
    await walletd.end('SIGTERM');
    folder.remove();
  });
  const put = async (token: string, what: string) => {
    const said = () => walletd.log.filter(({ code, msg }) => code === what || msg === what).length;
    const before = said();
    writeFileSync(file, token);
    process.kill(walletd.pid, 'SIGHUP');
    await walletd.waitFor(() => said() > before);
  };
  const statusOf = async (headers: Record<string, string>) => {
    const response = await fetch(`${walletd.adminUrl}/v1/players`, { headers });
    await response.body?.cancel();
    return response.status;
  };
  const bearer = (token: string) => statusOf({ Authorization: `Bearer ${token}` });
  const signedIn = await fetch(`${walletd.adminUrl}/console/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token: FIRST }),
  });
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  assert.deepEqual([await bearer(FIRST), await bearer(SECOND), await statusOf({ cookie })], [200, 401, 200]);

  await put('short', 'settings-not-reloaded');
  assert.deepEqual([await bearer(FIRST), await statusOf({ cookie })], [200, 200]);

  await put(FIRST, READ_AGAIN);
  assert.equal(await statusOf({ cookie }), 200, 'the session of a token that stays goes on');

  await put(SECOND, READ_AGAIN);
  assert.deepEqual([await bearer(FIRST), await bearer(SECOND), await statusOf({ cookie })], [401, 200, 401]);

  const headers = { Authorization: `Bearer ${SECOND}`, 'Content-Type': 'application/json' };
  const url = `${walletd.adminUrl}/v1/verify`;
  assert.equal((await fetch(url, { method: 'POST', headers, body: '{}' })).status, 202);
  const last = await until('the store is verified', async () => {
    const answer = (await (await fetch(url, { headers })).json()) as { last: { failure: string | null } | null };
    return answer.last ?? undefined;
  });
  assert.equal(last.failure, null, 'the server verifies with the token of now');
});

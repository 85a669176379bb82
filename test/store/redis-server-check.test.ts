import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Redis } from 'ioredis';
import { messageOf } from '../../src/base/message-of.js';
import { OutageError } from '../../src/base/outage-error.js';
import { ServerCheck } from '../../src/store/redis/server-check.js';
import { explain } from '../../src/store/redis/server-error.js';

/* INFO fields and error texts of Redis 7.0, Redis 8.0 and Valkey 8.0, copied from these servers. */
const REDIS = ['redis_version:8.0.2', 'redis_mode:MODE', 'role:master'];
const VALKEY = ['redis_version:7.2.4', 'server_name:valkey', 'valkey_version:8.0.1', 'server_mode:MODE', 'role:master'];

/** The refusal of a server with this INFO; undefined if the server is accepted. */
async function refusal(lines: readonly string[], mode: string, isCluster: boolean): Promise<string | undefined> {
  const info = lines.join('\r\n').replace('MODE', mode);
  const check = new ServerCheck({ type: 'fsync' }, true, isCluster);
  return await check.run({ info: async () => info } as unknown as Redis).then(() => undefined, messageOf);
}

test('the cluster mode of Redis and of Valkey is recognized', async () => {
  for (const lines of [REDIS, VALKEY]) {
    assert.equal(await refusal(lines, 'cluster', true), undefined);
    assert.equal(await refusal(lines, 'standalone', false), undefined);
    assert.match(String(await refusal(lines, 'standalone', true)), /^this Redis is not a cluster/);
    assert.match(String(await refusal(lines, 'cluster', false)), /^this Redis is part of a cluster/);
  }
});

test('a missing right is reported in the same words inside and outside a function', () => {
  for (const message of [
    "ERR The user executing the script can't run this command or subcommand script: walletd_append_2, on @user_function:2.",
    "ERR ACL failure in script: User x has no permissions to run the 'set' command script: aa, on @user_function:2.",
    "NOPERM User x has no permissions to run the 'set' command",
  ]) {
    assert.match(explain(new Error(message)).message, /^the ACL of this Redis user lacks a right that walletd needs/);
  }
});

test('errors of sentinels and refused certificates name the remedy', () => {
  const SENTINELS = 'All sentinels are unreachable and retry is disabled. Last error: ';
  for (const [message, sentence] of [
    [`${SENTINELS}NOAUTH Authentication required.`, /end WALLETD_STORE with \?sentinel=user:password/],
    [`${SENTINELS}WRONGPASS invalid username-password pair or user is disabled.`, /^the sentinels do not accept/],
    [`${SENTINELS}self-signed certificate`, /^the TLS certificate is refused: NODE_EXTRA_CA_CERTS/],
    ['self-signed certificate', /^the TLS certificate is refused: NODE_EXTRA_CA_CERTS/],
  ] as const) {
    const explained = explain(new Error(message));
    assert.match(explained.message, sentence);
    // A start waits for the end of an outage, but not for the end of these errors.
    assert.ok(!(explained instanceof OutageError), message);
  }
});

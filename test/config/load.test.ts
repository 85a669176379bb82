import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { operatorTokens } from '../../src/config/check-together.js';
import { ConfigError } from '../../src/config/config-error.js';
import { loadSettings, scalarPaths, variableOf, withCallersOf } from '../../src/config/load.js';
import { settingsSchema } from '../../src/config/schema.js';
import { makeTempFolder } from '../support/temp-folder.js';

function refused(env: NodeJS.ProcessEnv): string {
  try {
    loadSettings(env);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    assert.doesNotMatch(error.message, /\n/, 'one sentence');
    return error.message;
  }
  throw new Error('the settings were accepted');
}

function withFile<T>(content: string, run: (file: string) => T): T {
  const folder = makeTempFolder();
  const file = join(folder.path, 'settings.json');
  writeFileSync(file, content);
  try {
    return run(file);
  } finally {
    folder.remove();
  }
}

test('the defaults are the documented ones', () => {
  const settings = loadSettings({});
  assert.deepEqual([settings.host, settings.port], ['127.0.0.1', 3000]);
  const { host, port, token } = settings.admin;
  assert.deepEqual([host, port, token], ['127.0.0.1', 3001, null]);
  assert.deepEqual([settings.signature.keys, settings.allow.networks, settings.insecure], [null, null, false]);
  assert.deepEqual(
    [settings.store, settings.init, settings.shards, settings.log.level],
    ['lmdb:./data', null, 4, 'info'],
  );
  assert.deepEqual([settings.requestDeadlineMs, settings.txnsMax, settings.tombstonesMax], [3000, 200, 1000]);
  assert.deepEqual([settings.money.scale, settings.money.amountMax], [4, null]);
  assert.equal(settings.retention.transactions, 120);
  assert.equal(settings.limits.bodyBytesMax, 256 * 1024);
});

test('the environment overrides the file, and the file overrides the defaults', () => {
  withFile('{"port": 4000, "shards": 2, "admin": {"port": 4001}}', (file) => {
    const settings = loadSettings({ WALLETD_CONFIG: file, WALLETD_PORT: '5000' });
    assert.deepEqual(
      [settings.port, settings.shards, settings.admin.port, settings.admin.host],
      [5000, 2, 4001, '127.0.0.1'],
    );
  });
});

test('every single-valued setting has an environment variable with the documented name', () => {
  const variables = scalarPaths(loadSettings({})).map(variableOf);
  for (const name of [
    'HOST',
    'PORT',
    'ADMIN_HOST',
    'ADMIN_PORT',
    'ADMIN_TOKEN',
    'STORE',
    'INIT',
    'SHARDS',
    'LOG_LEVEL',
  ]) {
    assert.ok(variables.includes(`WALLETD_${name}`), name);
  }
  assert.ok(variables.includes('WALLETD_VOID_ALLOW_NEGATIVE_BALANCE'));
});

test('variables are parsed as numbers, booleans or text', () => {
  const settings = loadSettings({
    WALLETD_VOID_ALLOW_NEGATIVE_BALANCE: 'false',
    WALLETD_MONEY_AMOUNT_MAX: '12.5',
    WALLETD_ADMIN_TOKEN: '1234567890123456',
    WALLETD_INIT: 'never',
    WALLETD_HOST: '',
  });
  assert.equal(settings.void.allowNegativeBalance, false);
  assert.equal(settings.money.amountMax, 12.5);
  assert.equal(settings.admin.token, '1234567890123456');
  assert.equal(settings.init, 'never');
  assert.equal(settings.host, '127.0.0.1');
});

test('the settings schema is a valid JSON Schema', () => {
  new Ajv({ strict: true, allowUnionTypes: true }).compile(settingsSchema);
});

test('the refusal of a table in an environment variable names the right place', () => {
  assert.equal(
    refused({ WALLETD_MONEY_SCALES: '{"BTC": 8}' }),
    'money.scales can only be set in a file, which WALLETD_CONFIG names (from WALLETD_MONEY_SCALES)',
  );
});

test('an unknown setting prevents the start, and the error names it', () => {
  assert.equal(refused({ WALLETD_PROT: '1' }), 'WALLETD_PROT is not a setting of walletd');
  withFile('{"admin": {"prot": 1}}', (file) => {
    assert.equal(refused({ WALLETD_CONFIG: file }), `admin.prot is not a setting of walletd (from ${file})`);
  });
  withFile('{"money": {"scales": {"btc": 8}}}', (file) => {
    assert.equal(refused({ WALLETD_CONFIG: file }), `money.scales.btc is not a setting of walletd (from ${file})`);
  });
});

test('the error about a wrong settings group names the file, not a variable', () => {
  for (const value of ['5', 'null', '[]']) {
    withFile(`{"admin": ${value}}`, (file) => {
      const environment = { WALLETD_CONFIG: file, WALLETD_ADMIN_PORT: '0' };
      assert.equal(refused(environment), `admin must be an object with settings (from ${file})`);
    });
  }
  withFile('{"admin": {"__proto__": {"port": 1}}}', (file) => {
    assert.equal(refused({ WALLETD_CONFIG: file }), `admin.__proto__ is not a setting of walletd (from ${file})`);
  });
});

test('a product listed twice prevents the start', () => {
  withFile('{"products": {"list": [{"id": "P", "blocked": true}, {"id": "P"}]}}', (file) => {
    assert.equal(refused({ WALLETD_CONFIG: file }), 'products.list names P twice');
  });
});

test('tokens must fit in a header, and operator names in a log line', () => {
  for (const token of ['pässwörtpässwört', 'with a blank in it', 'short']) {
    assert.equal(
      refused({ WALLETD_ADMIN_TOKEN: token }),
      'admin.token cannot be what is given (from WALLETD_ADMIN_TOKEN): ' +
        'it must have 16 or more characters that are valid in a header, without blanks',
    );
  }
  for (const name of ['\\ud800x', 'a\\nb', '']) {
    withFile(`{"admin": {"tokens": [{"name": "${name}", "role": "read", "token": "0123456789abcdef"}]}}`, (file) => {
      assert.match(
        refused({ WALLETD_CONFIG: file }),
        /tokens\.0\.name cannot be what is given .* no control characters$/,
      );
    });
  }
});

test('the file of an unneeded secret is not read', () => {
  withFile('{"signature": {"keysFile": "/nowhere/keys"}}', (file) => {
    assert.match(refused({ WALLETD_CONFIG: file }), /cannot read \/nowhere\/keys/);
    assert.equal(loadSettings({ WALLETD_CONFIG: file }, ['signature.keys']).signature.keys, null);
  });
});

test('a file may begin with a byte order mark', () => {
  withFile('\uFEFF{"port": 4000}', (file) => assert.equal(loadSettings({ WALLETD_CONFIG: file }).port, 4000));
});

test('the refusal of an invalid value names setting, value, source and expectation', () => {
  assert.equal(refused({ WALLETD_PORT: 'abc' }), 'port cannot be "abc" (from WALLETD_PORT): it must be integer');
  assert.equal(refused({ WALLETD_PORT: '70000' }), 'port cannot be 70000 (from WALLETD_PORT): it must be <= 65535');
  assert.match(refused({ WALLETD_DUPLICATES: 'maybe' }), /duplicates cannot be "maybe" .* one of replay, reject/);
  assert.match(refused({ WALLETD_STORE: 'mysql://x' }), /store cannot be what is given .* must be lmdb:FOLDER/);
  assert.match(refused({ WALLETD_INIT: 'perhaps' }), /init cannot be "perhaps" .* one of auto, never/);
  withFile('{"shards": 0}', (file) => assert.match(refused({ WALLETD_CONFIG: file }), /shards cannot be 0 .* >= 1/));
  withFile('{"money": {"scales": {"BTC": 9}}}', (file) => {
    assert.match(refused({ WALLETD_CONFIG: file }), /money\.scales\.BTC cannot be 9 .* <= 8/);
  });
});

test('a missing or invalid JSON file prevents the start', () => {
  assert.match(refused({ WALLETD_CONFIG: '/nowhere/x.json' }), /cannot read \/nowhere\/x\.json/);
  withFile('{', (file) => assert.match(refused({ WALLETD_CONFIG: file }), /is not JSON/));
  withFile('[]', (file) => assert.match(refused({ WALLETD_CONFIG: file }), /must contain a JSON object/));
});

test('listeners that other machines can reach need protection or an explicitly accepted risk', () => {
  assert.match(refused({ WALLETD_HOST: '0.0.0.0' }), /callbacks are not authenticated/);
  assert.equal(loadSettings({ WALLETD_HOST: '0.0.0.0', WALLETD_INSECURE: 'true' }).host, '0.0.0.0');
  assert.match(refused({ WALLETD_ADMIN_HOST: '0.0.0.0' }), /set admin\.token/);
  const token = 'a-token-of-operators';
  const open = { WALLETD_ADMIN_HOST: '0.0.0.0', WALLETD_ADMIN_TOKEN: token };
  assert.match(refused(open), /admin\.host is 0\.0\.0\.0.* tokens .* unencrypted: set admin\.tls\.certificateFile/);
  assert.equal(loadSettings({ ...open, WALLETD_INSECURE: 'true' }).admin.token, token);
  const tls = { WALLETD_ADMIN_TLS_CERTIFICATE_FILE: 'x', WALLETD_ADMIN_TLS_KEY_FILE: 'y' };
  assert.equal(loadSettings({ ...open, ...tls }).admin.token, token);
  for (const name of ['WALLETD_SIGNATURE_KEYS', 'WALLETD_ALLOW_NETWORKS']) {
    assert.equal(loadSettings({ WALLETD_HOST: '0.0.0.0', [name]: 'x' }).host, '0.0.0.0', name);
  }
  for (const host of ['127.0.0.1', '127.5.5.5', '::1', 'localhost'])
    assert.equal(loadSettings({ WALLETD_HOST: host }).host, host);
  for (const host of ['127.evil.example', '::', '10.0.0.1']) refused({ WALLETD_HOST: host });
});

test('the error about a secret does not repeat it', () => {
  assert.doesNotMatch(refused({ WALLETD_ADMIN_TOKEN: 'hunter2' }), /hunter2/);
});

test('operators have names, roles and tokens, and no error repeats a token', () => {
  const anna = { name: 'anna', role: 'operate', token: 'a-token-of-anna-alone' };
  const bert = { name: 'bert', role: 'read', token: 'a-token-of-bert-alone' };
  const withTokens = <T>(tokens: unknown, run: (env: NodeJS.ProcessEnv) => T) =>
    withFile(JSON.stringify({ admin: { tokens } }), (file) =>
      run({ WALLETD_CONFIG: file, WALLETD_ADMIN_HOST: '::', WALLETD_INSECURE: 'true' }),
    );
  withTokens([anna, bert], (env) => {
    const all = operatorTokens(loadSettings({ ...env, WALLETD_ADMIN_TOKEN: 'a-token-of-operators' }));
    assert.deepEqual(all, [{ name: 'operator', role: 'operate', token: 'a-token-of-operators' }, anna, bert]);
    assert.deepEqual(operatorTokens(loadSettings(env)), [anna, bert], 'is enough to bind beyond loopback');
    assert.match(refused({ ...env, WALLETD_ADMIN_TOKEN: anna.token }), /two operators .* the same token/);
  });
  withTokens([anna, { ...bert, name: 'anna' }], (env) =>
    assert.match(refused(env), /admin\.tokens and admin\.token name the operator anna twice/),
  );
  withTokens([{ ...anna, name: 'local' }], (env) => assert.match(refused(env), /"local" is reserved/));
  withTokens([{ ...anna, name: 'operator' }], (env) => {
    assert.match(
      refused({ ...env, WALLETD_ADMIN_TOKEN: bert.token }),
      /admin\.tokens and admin\.token name the operator operator twice/,
    );
  });
  withTokens([{ ...anna, role: 'admin' }], (env) =>
    assert.match(refused(env), /admin\.tokens\.0\.role .* one of monitor, read, operate/),
  );
  for (const wrong of ['hunter2', ['hunter2'], { hunter2: 1 }, [{ ...anna, token: 'hunter2' }]]) {
    withTokens(wrong, (env) => assert.doesNotMatch(refused(env), /hunter2/));
  }
});

test('no message or source repeats a secret, even in the wrong setting', () => {
  const secret = 'hunter2';
  for (const text of [
    `{"admin": "${secret}"}`,
    `{"signature": ["${secret}"]}`,
    `{"signature": {"keys": {"${secret}": 1}}}`,
    `{"store": ["${secret}"]}`,
    `{"admin": {"token": ${secret}}}`,
    `{"admin": {"token": "${secret}" "port": 1}}`,
    `{"admin": {"token": "${secret}`,
  ]) {
    withFile(text, (file) => assert.doesNotMatch(refused({ WALLETD_CONFIG: file }), /hunter2/, text));
  }
  assert.doesNotMatch(refused({ WALLETD_STORE: `mysql://x:${secret}@y` }), /hunter2/);
});

test('each secret can come from a file that a setting names', () => {
  for (const [path, variable, value] of [
    ['admin.token', 'WALLETD_ADMIN_TOKEN_FILE', 'a-token-of-operators'],
    ['signature.keys', 'WALLETD_SIGNATURE_KEYS_FILE', 'a:0123456789abcdef\nb:0123456789abcdef'],
    ['store', 'WALLETD_STORE_FILE', 'redis://walletd:password@127.0.0.1:6379/0'],
  ] as const) {
    withFile(`${value}\n`, (file) => {
      const settings = loadSettings({ [variable]: file }) as unknown as Record<string, never>;
      assert.equal(
        path.split('.').reduce((tree, key) => tree[key] as never, settings),
        value,
      );
      assert.match(
        refused({ [variable]: `${file}.not` }),
        new RegExp(`^cannot read .*\\.not \\(${path}File\\): ENOENT`),
      );
    });
    withFile('', (file) => assert.match(refused({ [variable]: file }), new RegExp(`^${path} cannot be what is given`)));
  }
});

test("a secret's file overrides its value; variables override files", () => {
  withFile('from-the-file-of-it', (secret) => {
    withFile(JSON.stringify({ admin: { token: 'from-the-same-file', tokenFile: secret } }), (file) => {
      assert.equal(loadSettings({ WALLETD_CONFIG: file }).admin.token, 'from-the-file-of-it');
      const env = { WALLETD_CONFIG: file, WALLETD_ADMIN_TOKEN: 'from-the-environment' };
      assert.equal(loadSettings(env).admin.token, 'from-the-environment');
      assert.equal(loadSettings({ ...env, WALLETD_ADMIN_TOKEN_FILE: secret }).admin.token, 'from-the-file-of-it');
    });
  });
});

test('the limit for all bodies must be at least the largest body', () => {
  const limits = { WALLETD_LIMITS_BODY_BYTES_MAX: '2000', WALLETD_LIMITS_IN_FLIGHT_BYTES_MAX: '1999' };
  assert.match(refused(limits), /^limits.inFlightBytesMax is 1999, but one body may have 2000/);
  assert.equal(loadSettings({ ...limits, WALLETD_LIMITS_IN_FLIGHT_BYTES_MAX: '2000' }).limits.inFlightBytesMax, 2000);
});

test('a certificate needs its key, and TLS excludes the PROXY protocol', () => {
  for (const name of ['tls', 'admin.tls']) {
    const sentence = `${name}.certificateFile and ${name}.keyFile belong together: set both or none`;
    for (const file of ['certificateFile', 'keyFile'])
      assert.equal(refused({ [variableOf(`${name}.${file}`)]: 'x' }), sentence);
  }
  const tls = { WALLETD_TLS_CERTIFICATE_FILE: 'x', WALLETD_TLS_KEY_FILE: 'x' };
  assert.match(refused({ ...tls, WALLETD_ALLOW_FORWARDED_BY: 'proxy-protocol' }), /cannot be combined with TLS/);
  assert.match(refused({ WALLETD_ALLOW_FORWARDED_BY: 'proxy-protocol' }), /list the proxies in allow\.proxies$/);
});

test('the refusal of an invalid cluster setting names the remedy', () => {
  const redis = { WALLETD_STORE: 'redis://127.0.0.1:6379', WALLETD_CLUSTER_PORT: '3002' };
  assert.match(refused({ WALLETD_CLUSTER_PORT: '3002' }), /nodes share a store in Redis$/);
  assert.match(refused({ ...redis, WALLETD_CLUSTER_HOST: '0.0.0.0' }), /set cluster\.secret .*the same on all nodes/);
  assert.match(refused({ ...redis, WALLETD_CLUSTER_TLS_CA_FILE: 'x' }), /belong together: set all or none$/);
});

test('the removed durability peers:1 is refused with the choices that remain', () => {
  const sentence =
    'durability peers:1 no longer exists: give each Redis master two replicas and set replicas:1 or synced:1, or set ' +
    'fsync for a Redis without replicas (LMDB: fsync) (from WALLETD_DURABILITY)';
  for (const port of [undefined, '3002']) {
    const redis = { WALLETD_STORE: 'redis://127.0.0.1:6379', WALLETD_CLUSTER_PORT: port };
    assert.equal(refused({ ...redis, WALLETD_DURABILITY: 'peers:1' }), sentence);
    assert.match(refused({ ...redis, WALLETD_DURABILITY: 'peers:2' }), /must be fsync, os, replicas:N or synced:N$/);
  }
});

test('reloaded settings are checked against the running listeners', () => {
  const keys = { WALLETD_SIGNATURE_KEYS: 'a:0123456789abcdef' };
  const running = loadSettings({ ...keys, WALLETD_HOST: '0.0.0.0' });
  const onLoopback = loadSettings({ WALLETD_ALLOW_NETWORKS: '192.0.2.1' });
  const both = withCallersOf(running, onLoopback);
  assert.deepEqual([both.host, both.signature.keys, both.allow.networks], ['0.0.0.0', null, '192.0.2.1']);
  assert.throws(() => withCallersOf(running, loadSettings({})), /host is 0\.0\.0\.0.* not authenticated/);
  assert.equal(withCallersOf(running, loadSettings({ WALLETD_INSECURE: 'true' })).signature.keys, null);
  const token = '0123456789abcdef';
  assert.equal(withCallersOf(running, loadSettings({ ...keys, WALLETD_ADMIN_TOKEN: token })).admin.token, token);
  const open = loadSettings({
    ...keys,
    WALLETD_ADMIN_HOST: '0.0.0.0',
    WALLETD_ADMIN_TOKEN: token,
    WALLETD_INSECURE: 'true',
  });
  const none = loadSettings({ ...keys, WALLETD_INSECURE: 'true' });
  assert.throws(
    () => withCallersOf(open, none),
    /admin\.host is 0\.0\.0\.0, which other machines can reach: set admin\.token/,
  );
  const tls = loadSettings({ WALLETD_TLS_CERTIFICATE_FILE: 'x', WALLETD_TLS_KEY_FILE: 'x' });
  const plain = loadSettings({ WALLETD_ALLOW_FORWARDED_BY: 'proxy-protocol', WALLETD_ALLOW_PROXIES: '192.0.2.9' });
  assert.throws(() => withCallersOf(tls, plain), /cannot be combined with TLS/);
});

test('a reload refuses another signature.maxSkewMs, whose replay memory is fixed at the start', () => {
  const keys = { WALLETD_SIGNATURE_KEYS: 'a:0123456789abcdef' };
  const running = loadSettings(keys);
  for (const maxSkewMs of ['1000', '600000']) {
    const fresh = loadSettings({ ...keys, WALLETD_SIGNATURE_MAX_SKEW_MS: maxSkewMs });
    assert.throws(() => withCallersOf(running, fresh), /signature\.maxSkewMs is 300000 until a restart/);
  }
});

test('the sample files in config/ are valid', () => {
  for (const name of ['production.json', 'tiny.json']) {
    const file = new URL(`../../../config/${name}`, import.meta.url).pathname;
    assert.ok(
      loadSettings({
        WALLETD_CONFIG: file,
        WALLETD_ADMIN_TOKEN: 'a-token-of-operators',
        WALLETD_SIGNATURE_KEYS: 'a:a-secret-of-the-platform',
      }),
    );
  }
});

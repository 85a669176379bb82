import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { RedisServer } from '../support/redis-server.js';
import { runCommand } from '../support/run-command.js';
import { inTempFolder } from '../support/temp-folder.js';
import { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';
import { WalletdProcess } from '../support/walletd-process.js';

const TOKEN = 'a-token-of-operators';

test("status shows a server's health on one screen and in its exit code", async () => {
  const node = await TestNode.start({ 'admin.token': TOKEN });
  const env = { WALLETD_ADMIN_PORT: new URL(node.adminUrl).port, WALLETD_ADMIN_TOKEN: TOKEN };
  try {
    const { status, stdout, stderr } = await runCommand(['status'], env);
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /^walletd \S+ on Node v\S+ at http:\/\/127\.0\.0\.1:\d+: up for .*, ready\n/);
    assert.match(stdout, /\nshards +4 of 4 serve +0 players\n/);
    assert.match(stdout, /\nstore +answers /);
    assert.match(stdout, /\n\nAll is well\.\n$/);
    assert.ok(stdout.split('\n').length < 24, 'one screen');
    const json = await runCommand(['status', '--json'], env);
    const { isHealthy, shardsServing } = JSON.parse(json.stdout);
    assert.deepEqual([isHealthy, shardsServing], [true, 4]);
    const shard = await runCommand(['status', '--shard', '3'], env);
    assert.equal(shard.status, 0);
    assert.match(
      shard.stdout,
      /^shard +3\nstate +serving since \S+Z\nwaits for +nothing\nnext +nothing on its own\nlog +1-1, 0 players in memory\n/,
    );
    const record = JSON.parse((await runCommand(['status', '--shard', '3', '--json'], env)).stdout);
    assert.equal(record.replica.state, 'serving');
    const absent = await runCommand(['status', '--shard', '4'], env);
    assert.deepEqual([absent.status, absent.stderr], [1, 'walletd: the server reports 4 shards, and no shard 4\n']);
    const stranger = await runCommand(['status'], { ...env, WALLETD_ADMIN_TOKEN: `${TOKEN}-not` });
    assert.equal(stranger.status, 1);
    assert.match(stranger.stderr, /answers 401: /);
  } finally {
    await node.close();
  }
  const gone = await runCommand(['status'], env);
  assert.equal(gone.status, 1);
  assert.match(gone.stderr, /^walletd: cannot reach the server at http:\/\/127\.0\.0\.1:\d+: .*\n$/);
});

test('status reports a server as unresponsive after five seconds', () =>
  inTempFolder(async (folder) => {
    const walletd = await WalletdProcess.start({ WALLETD_STORE: `lmdb:${folder}/data` });
    const { port } = new URL(walletd.adminUrl);
    process.kill(walletd.pid, 'SIGSTOP');
    const { status, stderr } = await runCommand(['status'], { WALLETD_ADMIN_PORT: port });
    process.kill(walletd.pid, 'SIGCONT');
    await walletd.end('SIGKILL');
    assert.equal(status, 1);
    assert.match(
      stderr,
      new RegExp(
        `^walletd: cannot reach the server at \\S+:${port}: it did not answer within 5 s: the server or the network hangs`,
      ),
    );
  }));

test("status shows the archive id from the archive's file", () =>
  inTempFolder(async (folder) => {
    const store = { WALLETD_STORE: `lmdb:${folder}/data`, WALLETD_RETENTION_MEMORY_SECONDS: '60' };
    for (const WALLETD_WORKERS of ['0', '2']) {
      const walletd = await WalletdProcess.start({ ...store, WALLETD_NODE_FOLDER: `${folder}/node`, WALLETD_WORKERS });
      const { stdout } = await runCommand(['status'], { WALLETD_ADMIN_PORT: new URL(walletd.adminUrl).port });
      const { archiveId } = JSON.parse(readFileSync(`${folder}/data/archive/archive.json`, 'utf8'));
      assert.match(stdout, new RegExp(`\\narchive +answers +0 names, id ${archiveId}\\n`));
      await walletd.end('SIGTERM');
    }
  }));

test('doctor and status report the same alerts about a server', () =>
  inTempFolder(async (folder) => {
    const redis = await RedisServer.start();
    const store = { WALLETD_STORE: redis.url, WALLETD_INIT: 'auto', WALLETD_NODE_FOLDER: `${folder}/node` };
    const walletd = await WalletdProcess.start({ ...store, WALLETD_ARCHIVE: 'postgres://w:x@127.0.0.1:1/w' });
    const env = { ...store, WALLETD_ADMIN_PORT: new URL(walletd.adminUrl).port };
    const isAway = async () =>
      /^WRONG +The archive does not answer\./m.test((await runCommand(['status'], env)).stdout);
    await until('the archive is known to be away', isAway);
    const status = await runCommand(['status'], env);
    assert.match(status.stdout, /\narchive +DOES NOT ANSWER/);
    assert.equal(status.status, 1);
    const doctor = await runCommand(['doctor'], env);
    assert.match(doctor.stdout, /^bad +server +The archive does not answer\./m);
    assert.equal(doctor.status, 1);
    await walletd.end('SIGKILL');
    await redis.destroy();
  }));

test('doctor examines LMDB and leaves nothing behind', () =>
  inTempFolder(async (folder) => {
    const store = `lmdb:${folder}/data`;
    await runCommand(['init', store]);
    const { status, stdout } = await runCommand(['doctor', store, '--json']);
    const findings = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Finding);
    assert.deepEqual(
      findings.map(({ about }) => about),
      ['store', 'durability', 'durable write', 'room', 'archive', 'money'],
    );
    const bad = findings.some(({ verdict }) => verdict === 'bad');
    assert.equal(status, bad ? 1 : 0);
    for (const { verdict, todo } of findings) assert.equal(todo === undefined, verdict === 'good');
    assert.deepEqual(readdirSync(`${folder}/data`).sort(), ['data.mdb', 'lock.mdb']);
    const none = await runCommand(['doctor', `lmdb:${folder}/none`]);
    assert.equal(none.status, 1);
    assert.match(none.stderr, /there is no store at/);
  }));

interface Finding {
  readonly about: string;
  readonly verdict: string;
  readonly says: string;
  readonly todo?: string;
}

test('doctor names rights that the Redis user lacks and leaves nothing behind', async () => {
  const server = await RedisServer.start();
  const url = (user: string) => `redis://${user}:secret@127.0.0.1:${server.port}`;
  const examine = async (user: string) => {
    const { status, stdout, stderr } = await runCommand(['doctor', url(user), '--json']);
    assert.equal(stderr, '');
    return {
      status,
      findings: stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Finding),
    };
  };
  try {
    const users = readFileSync(new URL('../../../config/users.acl', import.meta.url), 'utf8');
    const [, rights = ''] = /^user walletd on >CHANGE-ME (.*)$/m.exec(users) ?? [];
    await server.call('ACL', 'SETUSER', 'walletd', 'on', '>secret', ...rights.split(/ (?![^(]*\))/));
    await server.call(
      'ACL',
      'SETUSER',
      'trimless',
      'on',
      '>secret',
      ...rights.replace('+xtrim ', '').split(/ (?![^(]*\))/),
    );
    // The first run loads the Redis functions.
    await runCommand(['doctor', server.url]);
    const empty = await examine('walletd');
    assert.deepEqual(
      empty.findings
        .map(({ about, verdict }) => `${about}: ${verdict}`)
        .filter((one) => !/^(room|durable write)/.test(one)),
      ['store: look', 'durability: look', 'rights: good', 'replicas: good', 'clock: good', 'money: look'],
    );
    assert.equal((await runCommand(['init', server.url])).status, 0);
    assert.equal((await examine('walletd')).findings[0]?.verdict, 'good');
    const trimless = await examine('trimless');
    assert.equal(trimless.status, 1);
    const found = trimless.findings.find(({ about }) => about === 'rights');
    assert.equal(found?.says, 'this user may not use XTRIM');
    assert.match(found?.todo ?? '', /config\/users\.acl/);
    const keys = (await server.call('KEYS', '*')) as string[];
    assert.deepEqual(
      keys.filter((key) => /trial-\w+:snapshot/.test(key)),
      [],
    );
    await server.call('CONFIG', 'SET', 'appendfsync', 'everysec');
    const refused = await runCommand(['doctor', server.url]);
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /appendfsync everysec, but it should be always/);
  } finally {
    await server.destroy();
  }
});

test('with the script that completion prints, a shell completes commands and options', async () => {
  const { stdout } = await runCommand(['completion', 'bash']);
  const complete = (...words: string[]) => {
    const script = `${stdout}
      COMP_WORDS=(walletd "$@"); COMP_CWORD=$#; _walletd; echo "\${COMPREPLY[@]}"`;
    const { stdout: said, stderr } = spawnSync('bash', ['-c', script, 'bash', ...words], {
      encoding: 'utf8',
      timeout: 10_000,
    });
    assert.equal(stderr, '');
    return said.trim();
  };
  assert.equal(complete('s'), 'serve status simulate snapshot');
  assert.equal(complete('snapshot', ''), 'list take --help');
  assert.equal(complete('backup', '--fol'), '--follow');
  assert.match(complete('inspect', 'player', 'ann', '--'), /--store/);
  assert.equal(complete('unheard-of', 'acc'), 'accept-loss');
  assert.equal((await runCommand(['completion', 'fish'])).status, 2);
});

const noZsh = spawnSync('zsh', ['--version']).status !== 0 && 'zsh is not installed';

test('zsh completes commands, with or without its own completion', { skip: noZsh }, () =>
  inTempFolder(async (folder) => {
    const { stdout } = await runCommand(['completion', 'zsh']);
    writeFileSync(`${folder}/completion`, stdout);
    for (const rc of ['', 'autoload -U compinit; compinit -u\n']) {
      writeFileSync(`${folder}/.zshrc`, `PS1='ready> '\n${rc}source ${folder}/completion\n`);
      // zsh completes only on a terminal, so zpty provides one and waits for the answers.
      const script = `
        zmodload zsh/zpty
        zpty shell 'TERM=dumb ZDOTDIR=${folder} zsh -d -i'
        zpty -r shell said '*ready> '
        zpty -w -n shell $'walletd inspect player ann --sto\\t'
        zpty -r shell said '*--store *'
        zpty -w -n shell $'\\C-uwalletd acc\\t'
        zpty -r shell said '*accept-loss *'
        zpty -d shell`;
      const options = { encoding: 'utf8', timeout: 20_000 } as const;
      const { status, signal, stderr } = spawnSync('zsh', ['-f', '-c', script], options);
      assert.deepEqual([status, signal, stderr], [0, null, ''], rc);
    }
  }),
);

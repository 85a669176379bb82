import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSettings } from '../../src/config/load.js';
import { EXIT } from '../../src/node/settings/exit-codes.js';
import { runCommand } from '../support/run-command.js';
import { ROOT } from './pages.js';

/** Settings of a systemd unit; a backslash continues a line. */
function unit(name: string): ReadonlyMap<string, string> {
  const text = readFileSync(join(ROOT, 'config', name), 'utf8').replaceAll('\\\n', ' ');
  return new Map([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]));
}

const UNITS = ['walletd.service', 'walletd-backup.service', 'walletd-feed@.service'];

for (const name of UNITS) {
  test(`${name} restarts indefinitely while the store is unreachable`, () => {
    assert.equal(unit(name).get('StartLimitIntervalSec'), '0');
    assert.match(unit(name).get('Restart') ?? '', /^(always|on-failure)$/);
  });

  test(`${name} starts after the clock has been set`, () => {
    for (const key of ['After', 'Wants']) assert.ok(unit(name).get(key)?.split(' ').includes('time-sync.target'), key);
  });

  test(`${name} runs an existing command with valid options`, async () => {
    const [program = '', action = '', ...words] = unit(name).get('ExecStart')?.split(/\s+/) ?? [];
    assert.equal(program, '/opt/walletd/src/cli/walletd.sh');
    const { status, stdout } = await runCommand([action, '--help']);
    assert.equal(status, EXIT.ok);
    for (const option of words.filter((word) => word.startsWith('--'))) {
      assert.match(stdout, new RegExp(`^ +${option}\\b`, 'm'), option);
    }
  });
}

test('a cluster node has enough time to transfer its shards', () => {
  const { drainSeconds } = loadSettings({}).cluster;
  assert.ok(Number(unit('walletd.service').get('TimeoutStopSec')) >= drainSeconds + 10);
});

test('permanent errors and a lost store cause no restart', () => {
  const { usage, fenced, otherArchive } = EXIT;
  assert.equal(unit('walletd.service').get('RestartPreventExitStatus'), `${usage} ${fenced}`);
  assert.equal(unit('walletd-backup.service').get('RestartPreventExitStatus'), `${usage} ${otherArchive}`);
  assert.equal(unit('walletd-feed@.service').get('RestartPreventExitStatus'), `${usage}`);
});

const hasAnalyzer = spawnSync('systemd-analyze', ['--version']).status === 0;

for (const name of UNITS) {
  test(`${name} has a systemd exposure below 3.0`, { skip: hasAnalyzer ? false : 'no systemd-analyze here' }, () => {
    const file = join(ROOT, 'config', name);
    const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', file], { encoding: 'utf8' });
    const [, level] = /Overall exposure level.*: ([\d.]+)/.exec(stdout) ?? [];
    assert.ok(Number(level) < 3, stdout.slice(-200));
  });

  test(`${name} creates files that are private to its user`, () => {
    assert.equal(unit(name).get('UMask'), '0077');
    assert.equal(unit(name).get('StateDirectoryMode'), '0700');
    assert.equal(unit(name).get('LimitCORE'), '0');
  });
}

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { bet, PlatformClient } from '../support/client.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { environment, runWalletd, WalletdProcess } from '../support/walletd-process.js';
import { ROOT } from '../tidy/pages.js';

/** Files that packing needs. Leaving out tests and benchmarks halves the compile time. */
const SOURCES = [
  ...['src', 'config', 'docs', 'package.json', 'package-lock.json', 'tsconfig.json'],
  ...['README.md', 'CHANGELOG.md', 'SECURITY.md'],
];
const REVISION = '0123456789ab';
const INSTALLED_MAX_MB = 90;

interface Versioned {
  readonly version: string;
}

const folder = makeTempFolder();
const prefix = join(folder.path, 'prefix');
const installed = join(prefix, 'lib/node_modules/walletd');
/** Like an installed package, but with exactly the packages with which the tests ran. */
const unpacked = join(folder.path, 'package');
const walletd = [join(prefix, 'bin/walletd')];
const read = <T>(file: string) => JSON.parse(readFileSync(file, 'utf8')) as T;

/** Runs a program in the temporary folder, far from the sources. */
function run(command: string, args: readonly string[], cwd = folder.path): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', env: { ...process.env, REVISION }, stdio: 'pipe' });
}

before(() => {
  const tree = join(folder.path, 'tree');
  const options = { recursive: true, preserveTimestamps: true };
  for (const path of SOURCES) cpSync(join(ROOT, path), join(tree, path), options);
  mkdirSync(join(tree, 'node_modules'));
  // Create one link per package: through a link to the folder, npm could empty it.
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    symlinkSync(join(ROOT, 'node_modules', name), join(tree, 'node_modules', name));
  }
  run('npm', ['pack', '--pack-destination', folder.path], tree);
  const packed = readdirSync(folder.path).find((file) => file.endsWith('.tgz')) as string;
  run('npm', ['install', '--global', '--prefix', prefix, '--prefer-offline', join(folder.path, packed)]);
  run('tar', ['--extract', '--file', packed]);
  cpSync(join(unpacked, 'dist/package-lock.json'), join(unpacked, 'package-lock.json'));
  run('npm', ['ci', '--omit=dev', '--prefer-offline'], unpacked);
});

after(() => folder.remove());

test('an installed package prints help and the commit from which it was built', () => {
  assert.match(runWalletd(['--help'], {}, walletd).stdout, /^Usage: walletd /);
  assert.match(runWalletd(['--version'], {}, walletd).stdout, new RegExp(`^\\d+\\.\\d+\\.\\d+\\+${REVISION}\\n$`));
});

test('an installed package serves a first bet from any folder', async () => {
  const env = { WALLETD_STORE: `lmdb:${folder.path}/data` };
  const server = await WalletdProcess.start(env, ['env', '-C', folder.path], walletd);
  const platform = new PlatformClient(server.callbackUrl);
  try {
    const ask = (method: string, path: string, body: object) =>
      fetch(`${server.adminUrl}/v1/players/ann${path}`, {
        method,
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
    await ask('PUT', '', { currency: 'THB' });
    await ask('POST', '/deposits', { id: 'd-1', amount: 100 });
    assert.equal((await platform.post('placeBets', bet('ann', 'bet-1', 10))).balanceAfter, 90);
    assert.equal((await fetch(`${server.adminUrl}/console/`)).status, 200);
  } finally {
    platform.close();
    await server.end('SIGTERM');
  }
});

test('npm ci in the unpacked package installs exactly the versions of the lock file', () => {
  const { packages } = read<{ readonly packages: Readonly<Record<string, Versioned>> }>(
    join(ROOT, 'package-lock.json'),
  );
  const found = Object.entries(packages).filter(([path]) => path !== '' && existsSync(join(unpacked, path)));
  assert.ok(found.length > 50, `${found.length} packages`);
  for (const [path, { version }] of found) {
    assert.equal(read<Versioned>(join(unpacked, path, 'package.json')).version, version, path);
  }
});

test('an installed package takes at most 90 MB, without developer packages', () => {
  for (const path of [installed, unpacked]) {
    const megabytes = Number.parseInt(run('du', ['-sm', path]), 10);
    assert.ok(megabytes <= INSTALLED_MAX_MB, `${path}: ${megabytes} MB`);
    assert.ok(!existsSync(join(path, 'node_modules/typescript')));
    const binaries = readdirSync(join(path, 'node_modules'), { recursive: true, encoding: 'utf8' });
    const foreign = binaries.filter((file) => /uws_(darwin|win32)_|\.map$/.test(file));
    assert.deepEqual(foreign, []);
  }
});

test('npm start in an installed package installs and builds nothing', () => {
  const { status, stdout, stderr } = spawnSync('npm', ['start'], {
    cwd: installed,
    encoding: 'utf8',
    env: { ...environment({}), WALLETD_PORT: 'none' },
  });
  assert.equal(status, 2);
  assert.match(stderr, /^walletd: port cannot be "none"/);
  assert.doesNotMatch(stdout, /added|packages/);
});

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { DamageableShard } from '../faults/damageable-shard.js';
import { RawLmdb } from '../faults/raw-lmdb.js';
import { HISTORY_FOLDER } from '../history/stored-history.js';
import { endAfterTests } from '../support/children.js';
import { balanceOf, bet, importPlayers, PlatformClient } from '../support/client.js';
import { freePort } from '../support/free-port.js';
import { LocalCluster } from '../support/local-cluster.js';
import { nightly } from '../support/nightly.js';
import { RedisServer } from '../support/redis-server.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { LAUNCHER, runWalletd, WalletdProcess } from '../support/walletd-process.js';

/*
 * Carries out the steps of docs/upgrade.md with the commands on that page. The first release wrote the store; a
 * snapshot in a newer format represents a release that does not exist yet.
 */
const PAGE = readFileSync(new URL('../../../docs/upgrade.md', import.meta.url), 'utf8');
const COMMAND_MS = 120_000;
const SHARDS = 2;
const NODES = 2;
const PLAYERS = ['ann', 'old'];

/** A step's commands, one per line. */
function stepsOf(title: string): readonly (readonly string[])[] {
  const section = PAGE.split(/^## /m).find((one) => one.startsWith(`${title}\n`)) ?? '';
  const fences = Array.from(section.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm), ([, script = '']) => script);
  assert.ok(fences.length > 0, `the page has commands under ${title}`);
  return fences.map((script) => script.trim().split(/\n */));
}

/** A machine on which the page's commands run. Its `systemctl` starts and stops walletd as systemd would. */
class Machine {
  readonly folder: string;
  readonly env: Record<string, string>;
  walletd: WalletdProcess | undefined = undefined;
  refusal = '';

  constructor(
    t: TestContext,
    env: Readonly<Record<string, string>>,
    private readonly systemctl: (action: string) => Promise<void> = (action) => this.act(action),
  ) {
    const folder = makeTempFolder();
    this.folder = folder.path;
    mkdirSync(join(this.folder, 'bin'));
    symlinkSync(LAUNCHER, join(this.folder, 'bin', 'walletd'));
    this.env = { WALLETD_NODE_FOLDER: join(this.folder, 'node'), ...env };
    t.after(async () => {
      await this.walletd?.end('SIGKILL');
      folder.remove();
    });
  }

  /** Runs the commands of a step. Resolves to their output. */
  async run(step: readonly string[]): Promise<string> {
    let said = '';
    for (const command of step) {
      const [word, action = ''] = command.split(' ');
      if (word === 'systemctl') await this.systemctl(action);
      else said += await this.shell(command);
    }
    return said;
  }

  private async shell(command: string): Promise<string> {
    const inherited = Object.entries(process.env).filter(([name]) => !/^(WALLETD_|NODE_)/.test(name));
    const child = endAfterTests(
      spawn('sh', ['-euc', command], {
        cwd: this.folder,
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: COMMAND_MS,
        env: {
          ...Object.fromEntries(inherited),
          ...this.env,
          PATH: `${join(this.folder, 'bin')}${delimiter}${process.env.PATH}`,
          BACKUP: join(this.folder, 'before-upgrade.backup'),
        },
      }),
    );
    const [said, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    if (child.exitCode === null) await once(child, 'exit');
    assert.equal(child.exitCode, 0, `${command}\n${said}${errors}`);
    return said;
  }

  private async act(action: string): Promise<void> {
    if (action === 'stop') {
      await this.walletd?.end('SIGTERM');
      this.walletd = undefined;
      return;
    }
    assert.equal(action, 'start');
    this.refusal = '';
    this.walletd = await WalletdProcess.start(this.env).catch((error: Error) => {
      this.refusal = error.message;
      return undefined;
    });
  }

  async balances(): Promise<readonly number[]> {
    const { adminUrl } = this.walletd as WalletdProcess;
    return await Promise.all(PLAYERS.map((username) => balanceOf(adminUrl, username)));
  }
}

/** A machine with a store of the first release, from a backup that it wrote. */
async function machineOf(t: TestContext): Promise<Machine> {
  const folder = makeTempFolder();
  t.after(() => folder.remove());
  const settings = join(folder.path, 'walletd.json');
  writeFileSync(settings, JSON.stringify({ money: { scales: { BTC: 8, JPY: 0 } } }));
  const machine = new Machine(t, {
    WALLETD_STORE: `lmdb:${folder.path}/data`,
    WALLETD_SHARDS: String(SHARDS),
    WALLETD_CONFIG: settings,
    WALLETD_ADMIN_PORT: String(await freePort()),
  });
  const backup = join(folder.path, 'of-the-first-release');
  const digits = readFileSync(new URL('v1/backup.txt', HISTORY_FOLDER), 'utf8').replaceAll('\n', '');
  writeFileSync(backup, Buffer.from(digits, 'hex'));
  const restored = runWalletd(['restore', '--from', backup, '--to', machine.env.WALLETD_STORE as string], machine.env);
  assert.equal(restored.status, 0, restored.stderr);
  await machine.run(['systemctl start walletd']);
  assert.equal(machine.refusal, '');
  return machine;
}

async function play(machine: Machine, id: string): Promise<void> {
  const client = new PlatformClient((machine.walletd as WalletdProcess).callbackUrl);
  for (const username of PLAYERS) {
    const { statusCode } = await client.post('placeBets', bet(username, `${id}-${username}`, 1));
    assert.equal(statusCode, 0);
  }
  client.close();
}

/**
 * Changes the format number of each shard's newest snapshot to that of a newer release. Resolves to a function that
 * undoes the change.
 */
async function writeNewerSnapshots({ env }: Machine): Promise<() => Promise<void>> {
  const raw = new RawLmdb((env.WALLETD_STORE as string).slice('lmdb:'.length));
  const before: { readonly shard: number; readonly id: string; readonly bytes: Buffer }[] = [];
  for (let shard = 0; shard < SHARDS; shard++) {
    const patient = await DamageableShard.of(raw, shard);
    const { id } = patient.newest;
    before.push({ shard, id, bytes: (await raw.manifests(shard)).get(id) as Buffer });
    await patient.bringFromFuture(patient.newest);
  }
  return async () => {
    for (const { shard, id, bytes } of before) await raw.putManifest(shard, id, bytes);
    await raw.close();
  };
}

test('an upgrade by the documented steps keeps every balance', async (t) => {
  const machine = await machineOf(t);
  await play(machine, 'before');
  const balances = await machine.balances();
  const steps = stepsOf('Upgrading one node');
  for (const step of steps.slice(0, -1)) await machine.run(step);
  assert.equal(machine.refusal, '');
  const said = await machine.run(steps.at(-1) as readonly string[]);
  assert.match(said, /Nothing differs\./);
  assert.deepEqual(await machine.balances(), balances);
  await play(machine, 'after');
});

const GOING_BACK = nightly('the downgrade that ends on the newer release runs the same commands');
test('the downgrade steps end on the former release if it can read the store', GOING_BACK, async (t) => {
  const machine = await machineOf(t);
  await play(machine, 'newer');
  const balances = await machine.balances();
  const [stop, start, , check] = stepsOf('Going back');
  for (const step of [stop, start, check]) await machine.run(step as readonly string[]);
  assert.equal(machine.refusal, '');
  assert.deepEqual(await machine.balances(), balances);
});

test('a downgrade ends on the newer release if that release has written its formats', async (t) => {
  const machine = await machineOf(t);
  await play(machine, 'newer');
  const balances = await machine.balances();
  const [stop, start, startAgain, check] = stepsOf('Going back') as [string[], string[], string[], string[]];
  await machine.run(stop);
  const putNewerReleaseBack = await writeNewerSnapshots(machine);
  await machine.run(start);
  assert.match(machine.refusal, /the snapshot was written by a newer walletd \(format 99\): use that release/);
  assert.doesNotMatch(machine.refusal, /restore|accept-loss/);
  await putNewerReleaseBack();
  await machine.run(startAgain);
  assert.equal(machine.refusal, '');
  assert.match(await machine.run(check), /Nothing differs\./);
  assert.deepEqual(await machine.balances(), balances);
});

test('a cluster upgrade by the documented steps keeps every balance', async (t) => {
  const redis = await RedisServer.start();
  const env = {
    WALLETD_STORE: redis.url,
    WALLETD_CLUSTER_SECRET: 'a-secret-of-all-nodes',
    WALLETD_CLUSTER_DRAIN_SECONDS: '1',
  };
  const cluster = await LocalCluster.start({ env, nodes: NODES });
  t.after(async () => {
    await cluster.close();
    await redis.destroy();
  });
  let node = 0;
  const restart = async (action: string) => {
    assert.equal(action, 'restart');
    await cluster.end(node, 'SIGTERM');
    await cluster.startNode(node++);
    await cluster.settled();
  };
  await importPlayers(cluster.adminUrl, PLAYERS, 100);
  const port = new URL(cluster.adminUrl).port;
  const machine = new Machine(t, { ...env, WALLETD_ADMIN_PORT: port }, restart);
  const [before, replace, look, after] = stepsOf('Upgrading a cluster') as [string[], string[], string[], string[]];
  assert.match(await machine.run(before), /node-0 .*up/);
  for (let i = 0; i < NODES; i++) {
    await machine.run(replace);
    assert.match(await machine.run(look), /node-1 .*up/);
  }
  assert.match(await machine.run(after), /Nothing differs\./);
  for (const username of PLAYERS) assert.equal(await balanceOf(cluster.adminUrl, username), 100);
});

test('every command on the page belongs to a replayed step', () => {
  const replayed = ['Upgrading one node', 'Going back', 'Upgrading a cluster'].flatMap(stepsOf);
  assert.equal(replayed.length, PAGE.match(/```sh/g)?.length);
});

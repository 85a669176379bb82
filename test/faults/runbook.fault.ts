import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { balanceOf, bet, type CallbackAnswer, importPlayers, PlatformClient } from '../support/client.js';
import type { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { runWalletd, type WalletdProcess } from '../support/walletd-process.js';
import { type Load, PLAYERS, type Target } from './load.js';
import { prove } from './proof.js';
import { RawRedis } from './raw-redis.js';
import { fault, type Scene } from './scene.js';
import { shardStates } from './shard-states.js';

/*
 * docs/runbook.md, carried out. A command is run as it stands on the page, and one that is not on the page of its night
 * fails: so neither can change without the other. Nights that have faults of their own are there: 5 in disk.fault.ts, 6
 * in failover.fault.ts, 8 in test/integration/certificates.test.ts.
 */
const PAGE = readFileSync(new URL('../../../docs/runbook.md', import.meta.url), 'utf8');
const HEALED = 'the store has lost acknowledged entries: appending them again';
const FENCED = 3;

/** One night: its section, and what its variables stand for. */
class Night {
  private readonly section: string;

  constructor(
    private readonly scene: Scene,
    title: string,
    private readonly variables: Readonly<Record<string, string>>,
  ) {
    const section = PAGE.split(/^## /m).find((one) => one.startsWith(title));
    assert.ok(section !== undefined, `the runbook has no night "${title}"`);
    this.section = section;
  }

  /** Runs a command of the page; it has to succeed. */
  async run(command: string): Promise<string> {
    return await this.scene.run(...this.wordsOf(command));
  }

  /** The same for a command that asks the server of these settings. */
  runAt(settings: Readonly<Record<string, string>>, command: string): string {
    const { status, stdout, stderr } = runWalletd(this.wordsOf(command), settings);
    assert.equal(status, 0, stdout + stderr);
    return stdout;
  }

  private wordsOf(command: string): string[] {
    this.mustSay(command);
    const [name, ...words] = this.filled(command).split(' ');
    assert.equal(name, 'walletd');
    return words;
  }

  mustSay(words: string): void {
    assert.ok(this.section.includes(words), `the page of this night does not say: ${words}`);
  }

  private filled(command: string): string {
    return command.replaceAll(/\$([A-Z_]+)/g, (variable, name: string) => this.variables[name] ?? variable);
  }
}

interface Followed {
  readonly redis: RedisServer;
  readonly walletd: WalletdProcess;
  readonly load: Load;
  readonly backup: string;
  readonly follower: ReturnType<Scene['command']>;
}

/** walletd on Redis under load, and a follower who keeps a backup. */
async function followed(scene: Scene): Promise<Followed> {
  const redis = await scene.redis();
  const { url } = redis;
  const walletd = await scene.walletd(url);
  const load = await scene.load(walletd);
  const backup = join(scene.makeFolder(), 'followed.backup');
  const follower = scene.command('backup', '--follow', '--from', url, '--to', backup);
  await follower.said(/follow/i);
  await delay(1500);
  return { redis, walletd, load, backup, follower };
}

/** A copy of a store has not the whole log: what was answered shows in its repeats, which get the first answers. */
async function proveByRepeats(load: Load, target: Target): Promise<void> {
  const answered = load.sent.filter(({ answer }) => answer !== undefined);
  await load.repeatAll(target, answered);
  const moneyIn = (answer: CallbackAnswer | undefined) =>
    answer && [answer.statusCode, answer.balanceBefore, answer.balanceAfter];
  for (const { body, answer, repeat } of answered) assert.deepEqual(moneyIn(repeat), moneyIn(answer), body.id);
}

fault(
  'night 1: Redis is gone for good and walletd is alive: what was answered after the backup goes in again',
  async (scene) => {
    const { redis, walletd, load, backup, follower } = await followed(scene);
    // From here on the backup is behind.
    await follower.exit('SIGTERM');
    await delay(500);
    await redis.end('SIGKILL');
    const goneMs = performance.now();
    await until('callers are told 503', () => load.count('busy') > 0);
    await redis.startEmpty();
    const night = new Night(scene, '1. Redis is gone for good, and walletd is alive', {
      BACKUP: backup,
      STORE: redis.url,
    });
    await night.run('walletd restore --from $BACKUP --to $STORE');
    night.mustSay(HEALED.slice(0, 30));
    const lost = await walletd.waitFor(({ msg }) => msg === HEALED);
    const backMs = await until('service', () => load.firstAnswerAfter(goneMs + 500));
    await delay(500);
    await load.stop();
    scene.say(
      `service after ${Math.round(backMs - goneMs)} ms; the backup lacked ${lost.lost} entries of shard ${lost.shard}`,
    );
    await proveByRepeats(load, walletd);
    await night.run('walletd verify --store $STORE');
  },
);

fault('night 2: Redis and walletd are gone: a backup that had followed to the end brings all back', async (scene) => {
  const { redis, walletd, load, backup, follower } = await followed(scene);
  await load.stop();
  // What it follows comes within some seconds.
  await delay(3000);
  await follower.exit('SIGTERM');
  await redis.end('SIGKILL');
  await walletd.end('SIGKILL');
  await redis.startEmpty();
  const night = new Night(scene, '2. Redis is gone for good, and walletd too', { BACKUP: backup, STORE: redis.url });
  await night.run('walletd restore --from $BACKUP --to $STORE');
  const heir = await scene.walletd(redis.url);
  await proveByRepeats(load, heir);
  await night.run('walletd verify --store $STORE');
});

fault(
  'night 3: the backup is behind: shards stop, and go on without what is missing once somebody says so',
  async (scene) => {
    const { redis, walletd, load, backup, follower } = await followed(scene);
    await follower.exit('SIGTERM');
    // Longer than the node's own record is behind.
    await delay(2500);
    await load.stop();
    await redis.end('SIGKILL');
    await walletd.end('SIGKILL');
    await redis.startEmpty();
    await scene.run('restore', '--from', backup, '--to', redis.url);
    const refusal = await scene.refusal(redis.url);
    assert.match(refusal, /accept-loss/);
    const night = new Night(scene, '3. The backup is behind', { STORE: redis.url });
    night.mustSay('walletd accept-loss\n');
    const env = { WALLETD_STORE: redis.url, WALLETD_NODE_FOLDER: scene.nodeFolder };
    const accepted = runWalletd(['accept-loss', '--yes', '--stopped'], env);
    assert.equal(accepted.status, 0, accepted.stdout + accepted.stderr);
    const heir = await scene.walletd(redis.url);
    const states = await shardStates(heir);
    assert.ok(
      states.every((state) => state === 'serving'),
      states.join(' '),
    );
    const lines = await night.run('walletd export --store $STORE');
    assert.ok(lines.length > 0);
  },
);

fault('night 4: a wrong mass deposit is taken back by undo, which may be run twice', async (scene) => {
  const redis = await scene.redis();
  const walletd = await scene.walletd(redis.url);
  await importPlayers(walletd.adminUrl, PLAYERS, 100);
  const since = new Date().toISOString();
  await delay(20);
  for (const username of PLAYERS) {
    await fetch(`${walletd.adminUrl}/v1/players/${username}/deposits`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ id: `gift-${username}`, amount: 50 }),
    });
  }
  const platform = new PlatformClient(walletd.callbackUrl);
  assert.equal((await platform.post('placeBets', bet('p0', 'spent', 120))).statusCode, 0);
  platform.close();
  const night = new Night(scene, '4. A wrong mass deposit', {
    STORE: redis.url,
    SINCE: since,
    OPERATOR: 'local',
  });
  const settings = { WALLETD_ADMIN_PORT: new URL(walletd.adminUrl).port };
  const show = 'walletd undo --store $STORE --operator $OPERATOR --since $SINCE --type deposit';
  const shown = night.runAt(settings, show);
  assert.match(shown, new RegExp(`^${PLAYERS.length} corrections; --yes writes them\\.$`, 'm'));
  assert.equal(await balanceOf(walletd.adminUrl, 'p1'), 150);
  for (let time = 0; time < 2; time++) night.runAt(settings, `${show} --allow-negative-balance --yes`);
  assert.equal(await balanceOf(walletd.adminUrl, 'p0'), 100 - 120);
  assert.equal(await balanceOf(walletd.adminUrl, 'p1'), 100);
  await night.run('walletd verify --store $STORE');
});

fault(
  'night 7: a node that is fenced ends with 3 and names its successor; started again, it is the owner',
  async (scene) => {
    const redis = await scene.redis();
    const first = await scene.walletd(redis.url);
    const load = await scene.load(first);
    await delay(300);
    load.rest();
    const second = await scene.walletd(redis.url);
    assert.equal(await first.exit(), FENCED);
    assert.ok(first.log.some((line) => 'takenBy' in line));
    new Night(scene, '7. A node that is fenced', {}).mustSay('`takenBy`');
    assert.equal(await second.end('SIGTERM'), 0);
    const third = await scene.walletd(redis.url);
    load.moveTo(third);
    await delay(300);
    await load.stop();
    scene.say(await prove([load], third, new RawRedis(redis)));
  },
);

fault('night 9: another Redis takes over what the first one had, without losing an answer', async (scene) => {
  const redis = await scene.redis();
  const next = await scene.redis();
  const walletd = await scene.walletd(redis.url);
  const load = await scene.load(walletd);
  await delay(1000);
  load.rest();
  assert.equal(await walletd.end('SIGTERM'), 0);
  const night = new Night(scene, '9. Moving to another Redis', { STORE: redis.url, NEW_STORE: next.url });
  await night.run('walletd restore --from $STORE --to $NEW_STORE');
  await night.run('walletd verify --store $NEW_STORE --no-server');
  const heir = await scene.walletd(next.url);
  load.moveTo(heir);
  await delay(500);
  await load.stop();
  await proveByRepeats(load, heir);
});

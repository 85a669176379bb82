import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/until.js';
import { archivedMachine, archivedRounds } from './archived-machine.js';
import { Night, rareReplay } from './night.js';
import { proveNothingLost } from './night-proof.js';
import type { Scene } from './scene.js';

/*
 * docs/runbook-archive.md, carried out: nights in which the archive in PostgreSQL is away or moves. Night 11 is in
 * test/cli/accept-archive-loss.long.ts.
 */
const OTHER_ARCHIVE = 5;

async function archivedScene(scene: Scene) {
  const redis = await scene.redis();
  const archived = await archivedMachine(scene, redis.url, { WALLETD_REQUEST_DEADLINE_MS: '500' });
  return archived && { ...archived, redis };
}

const dumpOf = (database: string) => execFileSync('pg_dump', [database], { maxBuffer: 2 ** 30, encoding: 'utf8' });

/** As people restore a dump beneath whoever uses the database: at one moment the older tables are there. */
function restoreDump(database: string, dump: string): void {
  const args = ['--quiet', '--single-transaction', '--set', 'ON_ERROR_STOP=1', database];
  const input = `DROP SCHEMA public CASCADE; CREATE SCHEMA public;\n${dump}`;
  execFileSync('psql', args, { input, stdio: ['pipe', 'ignore', 'pipe'] });
}

rareReplay(14, 'PostgreSQL crashes, and comes back', async (scene) => {
  const archived = await archivedScene(scene);
  if (archived === undefined) return;
  const { machine, variables, postgres } = archived;
  const old = machine.load.sent[0];
  postgres.crash();
  await machine.walletd.waitFor(({ code }) => code === 'archive-away');
  const crashedMs = performance.now();
  const night = new Night(machine, 14, variables);
  assert.match(await night.run({ exit: 1 }), /archive +DOES NOT ANSWER/);
  assert.ok(old !== undefined);
  await until('bets are answered', () => machine.load.firstAnswerAfter(crashedMs + 500));
  await night.byHand('Start PostgreSQL on its own disk', () => postgres.start());
  await night.run();
  night.end();
  scene.say(await proveNothingLost(machine));
});

rareReplay(15, 'the archive moves to another database, and the follower with it', async (scene) => {
  const archived = await archivedScene(scene);
  if (archived === undefined) return;
  const { machine, variables } = archived;
  const night = new Night(machine, 15, variables);
  await night.run();
  await night.run();
  await night.run();
  await night.byHand('for walletd and the follower alike', () => machine.set('WALLETD_ARCHIVE', variables.NEW_ARCHIVE));
  await night.run();
  await night.run();
  const before = await archivedRounds(machine);
  await until('rounds are in the new archive', async () => (await archivedRounds(machine)) > before + 100);
  await night.byHand('Remove the old database', async () => {
    execFileSync('psql', [variables.PG_ADMIN, '-c', 'DROP DATABASE walletd']);
  });
  night.end();
  scene.say(await proveNothingLost(machine));
  assert.equal(machine.followerEnded, undefined, machine.followerSaid);
});

rareReplay(16, 'walletd moves to another archive, and nobody tells the follower', async (scene) => {
  const archived = await archivedScene(scene);
  if (archived === undefined) return;
  const { machine, variables } = archived;
  const former = machine.get('WALLETD_ARCHIVE');
  await machine.systemctl('stop', 'walletd');
  const dump = dumpOf(former);
  execFileSync('psql', ['--quiet', variables.PG_ADMIN, '-c', 'CREATE DATABASE walletd_new OWNER walletd']);
  restoreDump(variables.NEW_ARCHIVE, dump);
  machine.set('WALLETD_ARCHIVE', variables.NEW_ARCHIVE);
  await machine.systemctl('start', 'walletd');
  await until('the follower has ended', () => machine.followerEnded !== undefined);
  assert.equal(machine.followerEnded, OTHER_ARCHIVE);
  assert.match(readFileSync(join(machine.folder, 'walletd.prom'), 'utf8'), /^walletd_backup_archive_differs 1$/m);
  assert.notEqual(former, variables.NEW_ARCHIVE);
  const night = new Night(machine, 16, variables);
  await night.byHand('Write the `WALLETD_ARCHIVE` of walletd into the settings of the follower');
  await night.run();
  assert.match(await night.run(), /^Nothing differs\.$/m);
  night.end();
  scene.say(await proveNothingLost(machine));
});

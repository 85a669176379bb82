import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/until.js';
import { archivedRounds, archivedScene, dumpOf, restoreDump } from './archived-machine.js';
import { Night, rareReplay } from './night.js';
import { proveNothingLost } from './night-proof.js';

/*
 * Replays of docs/runbook-archive.md: incidents in which the PostgreSQL archive is unreachable or being moved. Incident
 * 11, which may lead to incident 3, is in runbook.fault.ts.
 */
const OTHER_ARCHIVE = 5;

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
  await night.byHand('for walletd and the follower', () => machine.set('WALLETD_ARCHIVE', variables.NEW_ARCHIVE));
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
  await night.byHand("Copy walletd's `WALLETD_ARCHIVE` into the follower's settings");
  await night.run();
  assert.match(await night.run(), /^Nothing differs\.$/m);
  night.end();
  scene.say(await proveNothingLost(machine));
});

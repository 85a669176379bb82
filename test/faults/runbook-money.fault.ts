import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { balanceOf, bet, importPlayers, PlatformClient } from '../support/client.js';
import { PLAYERS } from './load.js';
import { Machine } from './machine.js';
import { Night, rareReplay, replay } from './night.js';
import { betsAndCredits, proveNothingLost } from './night-proof.js';
import type { Scene } from './scene.js';

/* Replays of docs/runbook-money.md. */
const OWN_TOKEN = 'of-the-person-on-call';
const SCRIPT_TOKEN = 'of-the-script-that-ran-twice';

function authorized(token: string, body?: object): RequestInit {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  return body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
}

async function balanceFor(token: string, { walletd }: Machine, username: string): Promise<number> {
  const response = await fetch(`${walletd.adminUrl}/v1/players/${username}`, authorized(token));
  return ((await response.json()) as { balance: number }).balance;
}

rareReplay(4, 'a wrong mass deposit is taken back, and the script can do no more', async (scene) => {
  const redis = await scene.redis();
  const machine = await Machine.of(scene, { WALLETD_STORE: redis.url }, betsAndCredits);
  await importPlayers(machine.walletd.adminUrl, ['poor'], 100);
  const config = join(machine.folder, 'config.json');
  const writeTokens = (...tokens: object[]) => writeFileSync(config, JSON.stringify({ admin: { tokens } }));
  writeTokens({ name: 'script', role: 'operate', token: SCRIPT_TOKEN });
  machine.set('WALLETD_CONFIG', config);
  machine.set('WALLETD_ADMIN_TOKEN', OWN_TOKEN);
  await machine.systemctl('stop', 'walletd');
  await machine.systemctl('start', 'walletd');
  const since = new Date().toISOString();
  await delay(20);
  const gift = async (username: string) => {
    const body = { id: `gift-${username}`, amount: 50 };
    const url = `${machine.walletd.adminUrl}/v1/players/${username}/deposits`;
    return (await fetch(url, authorized(SCRIPT_TOKEN, body))).status;
  };
  for (const username of [...PLAYERS, 'poor']) assert.equal(await gift(username), 200);
  const platform = new PlatformClient(machine.walletd.callbackUrl);
  assert.equal((await platform.post('placeBets', bet('poor', 'spent', 120))).statusCode, 0);
  platform.close();

  const count = PLAYERS.length + 1;
  const limits = { COUNT: String(count), AMOUNT: String(50 * count) };
  const night = new Night(machine, 4, { SINCE: since, OPERATOR: 'script', ...limits });
  await night.byHand("Remove the script's token from walletd's settings", () => writeTokens());
  await night.run();
  assert.equal(await gift('late'), 401, 'the script can do no more');
  const shown = await night.run();
  assert.match(shown, new RegExp(`^${count} corrections of -${50 * count} THB; --yes writes them\\.$`, 'm'));
  assert.equal(await balanceFor(OWN_TOKEN, machine, 'poor'), 30);
  await night.run();
  assert.equal(await balanceFor(OWN_TOKEN, machine, 'poor'), 100 - 120);
  await night.runAgain();
  assert.equal(await balanceFor(OWN_TOKEN, machine, 'poor'), 100 - 120, 'a second run changes nothing');
  await night.run();
  night.end();
  machine.set('WALLETD_CONFIG', '');
  machine.set('WALLETD_ADMIN_TOKEN', '');
  await machine.systemctl('stop', 'walletd');
  await machine.systemctl('start', 'walletd');
  scene.say(await proveNothingLost(machine));
});

/** A script gives credits during the load. Undoing these credits must not affect any other change. */
async function scriptGaveMoney(scene: Scene, by: 'list' | 'time'): Promise<void> {
  const redis = await scene.redis();
  const machine = await Machine.of(scene, { WALLETD_STORE: redis.url }, betsAndCredits);
  const players = Array.from({ length: 120 }, (_, i) => `lucky${i}`);
  await importPlayers(machine.walletd.adminUrl, players, 100);
  const since = new Date().toISOString();
  const gift = async (username: string, refId: string, amount: number) => {
    const platform = new PlatformClient(machine.walletd.callbackUrl);
    const txns = [{ refId, status: 'CREDIT', amount }];
    const body = { ...bet(username, refId), id: `gift-${refId}`, productId: 'SCRIPT', txns };
    return (await platform.post('adjustBalance', body).finally(() => platform.close())).statusCode;
  };
  for (const username of players) assert.equal(await gift(username, `ref-${username}`, 125.5), 0);
  const untilMs = Date.now();
  const sum = async () => {
    const all = await Promise.all(players.map((username) => balanceOf(machine.walletd.adminUrl, username)));
    return all.reduce((total, one) => total + one, 0);
  };
  const count = players.length;
  assert.equal(await sum(), 225.5 * count);
  const ids = join(machine.folder, 'ids');
  writeFileSync(ids, players.map((username) => `ref-${username}\n`).join(''));
  const night = new Night(machine, 17, {
    SINCE: since,
    UNTIL: new Date(untilMs + 1).toISOString(),
    PRODUCT: 'SCRIPT',
    IDS: ids,
    COUNT: String(count),
    AMOUNT: String(125.5 * count),
  });
  await night.byHand('Ask the platform to stop the script', () => delay(5));
  if (by === 'time') {
    await night.byHand('write `WALLETD_MONEY_CREDIT_MAX`', () => machine.set('WALLETD_MONEY_CREDIT_MAX', '100'));
    await night.run();
    assert.equal(await gift('lucky0', 'late', 125.5), 40_003, 'the script can do no more');
  } else {
    night.leaveOut('write `WALLETD_MONEY_CREDIT_MAX`');
    night.leaveOut('restart walletd');
  }
  assert.match(await night.run(), /SCRIPT ref-lucky0/);
  await night.byHand('Ask the platform which');
  const undone = async () => {
    const shown = await night.run();
    assert.match(shown, new RegExp(`^${count} corrections of -${125.5 * count} THB; --yes --max-count`, 'm'));
    assert.equal(await sum(), 225.5 * count, 'a dry run writes nothing');
    await night.run();
    assert.equal(await sum(), 100 * count);
    assert.match(
      await night.runAgain(),
      new RegExp(`^No correction was written\\. |Nothing is left|${count} done before`, 'm'),
    );
    assert.equal(await sum(), 100 * count, 'a second run changes nothing');
  };
  if (by === 'list') {
    night.leaveOut('list only these credits');
    night.leaveOut('write the corrections');
    await undone();
  } else {
    await undone();
    night.leaveOut('list only these credits');
    night.leaveOut('write the corrections');
  }
  night.leaveOut('pending or refused');
  await night.run();
  if (by === 'time') {
    await night.byHand('remove `WALLETD_MONEY_CREDIT_MAX`', () => machine.set('WALLETD_MONEY_CREDIT_MAX', ''));
    await night.run();
  } else {
    night.leaveOut('remove `WALLETD_MONEY_CREDIT_MAX`');
    night.leaveOut('restart walletd');
  }
  night.end();
  scene.say(await proveNothingLost(machine));
}

replay(17, 'a script gave money through callbacks, and its list of refIds is there', (scene) =>
  scriptGaveMoney(scene, 'list'),
);

rareReplay(17, 'a script gives money through callbacks, and nobody can stop it', (scene) =>
  scriptGaveMoney(scene, 'time'),
);

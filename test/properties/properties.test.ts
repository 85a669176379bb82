import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, test } from 'node:test';
import { FreshPlayers } from '../repeats/fresh-players.js';
import { mustSetting } from '../repeats/settings/all.js';
import type { Deployment } from '../repeats/settings/setting.js';
import { PROPERTIES } from './all.js';
import { mustAgree } from './configurations.js';
import { hold } from './property.js';

/** A walletd whose closed rounds leave memory immediately. */
const SETTING = mustSetting('lmdb-archive');
const CASES = 60;
const HISTORIES = 30;

let deployment: Deployment;

before(async () => {
  deployment = await SETTING.start();
});

after(() => deployment.close());

for (const property of PROPERTIES) {
  test(property.title, async (t) => {
    const seed = randomInt(1, 2 ** 31 - 1);
    t.diagnostic(`seed ${seed}`);
    const operator = { wire: deployment.wire, players: new FreshPlayers(deployment.wire), pauseMs: SETTING.pauseMs };
    const { holds, saysNothing } = await hold(property, operator, seed, (cases) => cases < CASES);
    t.diagnostic(`${holds} cases hold, ${saysNothing} say nothing`);
    assert.ok(holds > 0, 'the property is not empty');
  });
}

test('answers are the same with workers, shards and an archive', async (t) => {
  const seed = randomInt(1, 2 ** 31 - 1);
  t.diagnostic(`seed ${seed}`);
  const settings = ['lmdb-inline', 'lmdb-archive', 'lmdb-workers'].map(mustSetting);
  const { histories } = await mustAgree(settings, seed, (played) => played < HISTORIES);
  assert.ok(histories >= HISTORIES);
});

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, test } from 'node:test';
import { FreshPlayers } from '../repeats/fresh-players.js';
import { mustSetting } from '../repeats/settings/all.js';
import type { Place } from '../repeats/settings/setting.js';
import { PROPERTIES } from './all.js';
import { mustAgree } from './configurations.js';
import { hold } from './property.js';

/** A walletd whose closed rounds leave memory at once. */
const SETTING = mustSetting('lmdb-archive');
const CASES = 60;
const HISTORIES = 30;

let place: Place;

before(async () => {
  place = await SETTING.start();
});

after(() => place.close());

for (const property of PROPERTIES) {
  test(property.title, async (t) => {
    const seed = randomInt(1, 2 ** 31 - 1);
    t.diagnostic(`seed ${seed}`);
    const table = { wire: place.wire, players: new FreshPlayers(place.wire), restMs: SETTING.restMs };
    const { holds, saysNothing } = await hold(property, table, seed, (cases) => cases < CASES);
    t.diagnostic(`${holds} cases hold, ${saysNothing} say nothing`);
    assert.ok(holds > 0, 'the property is not empty');
  });
}

test('workers, shards and the archive change no answer', async (t) => {
  const seed = randomInt(1, 2 ** 31 - 1);
  t.diagnostic(`seed ${seed}`);
  const settings = ['lmdb-inline', 'lmdb-archive', 'lmdb-workers'].map(mustSetting);
  const { histories } = await mustAgree(settings, seed, (played) => played < HISTORIES);
  assert.ok(histories >= HISTORIES);
});

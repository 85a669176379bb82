import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { FreshPlayers } from '../repeats/fresh-players.js';
import { mustSetting, SETTINGS } from '../repeats/settings/all.js';
import type { Place } from '../repeats/settings/setting.js';
import { PROPERTIES } from './all.js';
import { mustAgree } from './configurations.js';
import { hold } from './property.js';

const SECONDS = 10;
const AGREEING_SECONDS = 60;

function during(seconds: number): () => boolean {
  const endMs = performance.now() + seconds * 1000;
  return () => performance.now() < endMs;
}

for (const setting of ['lmdb-inline', 'lmdb-archive', 'redis-workers'].map(mustSetting)) {
  describe(setting.name, () => {
    let place: Place;
    before(async () => {
      place = await setting.start();
    });
    after(() => place.close());
    for (const property of PROPERTIES) {
      test(property.title, async (t) => {
        const seed = randomInt(1, 2 ** 31 - 1);
        t.diagnostic(`seed ${seed}`);
        const table = { wire: place.wire, players: new FreshPlayers(place.wire), restMs: setting.restMs };
        const { holds, saysNothing } = await hold(property, table, seed, during(SECONDS));
        t.diagnostic(`${holds} cases hold, ${saysNothing} say nothing`);
        assert.ok(holds > 0, 'the property is not empty');
      });
    }
  });
}

test('kills, restores, moves of shards and the store change no answer', async (t) => {
  const seed = randomInt(1, 2 ** 31 - 1);
  t.diagnostic(`seed ${seed}`);
  const histories = await mustAgree(SETTINGS, seed, during(AGREEING_SECONDS));
  t.diagnostic(`${histories} histories`);
  assert.ok(histories > 0);
});

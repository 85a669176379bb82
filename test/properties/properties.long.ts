import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { FreshPlayers } from '../repeats/fresh-players.js';
import { mustSetting, SETTINGS } from '../repeats/settings/all.js';
import type { Deployment } from '../repeats/settings/setting.js';
import { IS_NIGHTLY, nightly } from '../support/nightly.js';
import { PROPERTIES } from './all.js';
import { mustAgree } from './configurations.js';
import { hold } from './property.js';

const SECONDS = IS_NIGHTLY ? 5 : 2;
const AGREEING_SECONDS = 10;
const DISTURBED = ['lmdb-killed', 'lmdb-restored', 'redis-cluster-moves'];

/** Returns true for this many seconds from the first call, so that the servers' start does not count. */
function during(seconds: number): () => boolean {
  let endMs: number | undefined;
  return () => {
    endMs ??= performance.now() + seconds * 1000;
    return performance.now() < endMs;
  };
}

for (const setting of ['lmdb-inline', 'lmdb-archive', 'redis-workers'].map(mustSetting)) {
  const options = setting.name === 'lmdb-inline' ? nightly('two other settings run') : {};
  describe(setting.name, options, () => {
    let deployment: Deployment;
    before(async () => {
      deployment = await setting.start();
    });
    after(() => deployment.close());
    for (const property of PROPERTIES) {
      test(property.title, async (t) => {
        const seed = randomInt(1, 2 ** 31 - 1);
        t.diagnostic(`seed ${seed}`);
        const operator = {
          wire: deployment.wire,
          players: new FreshPlayers(deployment.wire),
          pauseMs: setting.pauseMs,
        };
        const { holds, saysNothing } = await hold(property, operator, seed, during(SECONDS));
        t.diagnostic(`${holds} cases hold, ${saysNothing} say nothing`);
        assert.ok(holds > 0, 'the property is not empty');
      });
    }
  });
}

for (const setting of SETTINGS.slice(1)) {
  const options = DISTURBED.includes(setting.name) ? {} : nightly('the disturbed settings run');
  test(`${setting.name} answers in the same way as lmdb-inline`, options, async (t) => {
    const seed = randomInt(1, 2 ** 31 - 1);
    t.diagnostic(`seed ${seed}`);
    const { histories, disturbances } = await mustAgree(
      [mustSetting('lmdb-inline'), setting],
      seed,
      during(AGREEING_SECONDS),
    );
    t.diagnostic(`${histories} histories, ${disturbances} disturbances`);
    assert.ok(histories > 0);
    assert.equal(disturbances > 0, DISTURBED.includes(setting.name));
  });
}

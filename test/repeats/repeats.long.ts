import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { nightly } from '../support/nightly.js';
import { runSetting } from './run-setting.js';
import { SETTINGS } from './settings/all.js';

const SECONDS = 20;
const DISTURBED = ['lmdb-killed', 'lmdb-restored', 'redis-cluster-moves'];

for (const setting of SETTINGS) {
  test(`no repeat changes anything: ${setting.name}`, nightly('explore-repeats runs each setting'), async (t) => {
    const seed = randomInt(1, 2 ** 31 - 1);
    t.diagnostic(`seed ${seed}`);
    const plan = { seed, seconds: SECONDS, repeatsMax: Number.POSITIVE_INFINITY, findingsMax: 1 };
    const { counts, findings, disturbances, resent } = await runSetting(setting, plan);
    t.diagnostic(`${counts.describe()}, ${disturbances} disturbances, ${resent} sent again`);
    assert.equal(findings.map(({ text }) => text).join('\n'), '');
    assert.ok(counts.repeats > 0, 'there were repeats');
    assert.equal(disturbances > 0, DISTURBED.includes(setting.name));
    if (setting.name === 'lmdb-killed') assert.ok(resent > 0, 'some outcomes were unknown');
  });
}

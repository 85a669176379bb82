import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { runSetting } from './run-setting.js';
import { mustSetting } from './settings/all.js';

const REPEATS = 4000;
/** A bound for a machine that stalls; the repeats take a few seconds. */
const SECONDS_MAX = 60;
const REPEATS_LEAST = 500;

test('no repeat changes anything, wherever its round is: memory or archive', async (t) => {
  const seed = randomInt(1, 2 ** 31 - 1);
  t.diagnostic(`seed ${seed}`);
  const setting = mustSetting('lmdb-archive');
  const plan = { seed, seconds: SECONDS_MAX, repeatsMax: REPEATS, findingsMax: 1 };
  const { counts, findings, archived } = await runSetting(setting, plan);
  t.diagnostic(`${counts.describe()}, ${archived} names in the archive`);
  assert.equal(findings.map(({ text }) => text).join('\n'), '');
  assert.ok(counts.repeats >= REPEATS_LEAST, 'there were repeats');
  assert.ok(Number(archived) > 0, 'rounds have left memory');
  assert.ok(counts.acceptedLater > 0, 'a refused message was accepted later');
});

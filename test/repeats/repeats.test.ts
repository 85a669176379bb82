import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { Platform } from '../../src/simulate/platform.js';
import { FreshPlayers } from './fresh-players.js';
import { PlayedHistory } from './played-history.js';
import { runSetting } from './run-setting.js';
import { mustSetting } from './settings/all.js';
import type { Step } from './step.js';

const REPEATS = 4000;
/** Time limit in case the machine stalls. The repeats normally take a few seconds. */
const SECONDS_MAX = 60;
const REPEATS_LEAST = 500;

test('no repeat changes anything, with its round in memory or in the archive', async (t) => {
  const seed = randomInt(1, 2 ** 31 - 1);
  t.diagnostic(`seed ${seed}`);
  const setting = mustSetting('lmdb-archive');
  const plan = { seed, seconds: SECONDS_MAX, repeatsMax: REPEATS, findingsMax: 1 };
  const { counts, findings, archived } = await runSetting(setting, plan);
  t.diagnostic(`${counts.describe()}, ${archived} names in the archive`);
  assert.equal(findings.map(({ text }) => text).join('\n'), '');
  assert.ok(counts.repeats >= REPEATS_LEAST, 'there were repeats');
  assert.ok(Number(archived) > 0, 'rounds have left memory');
});

test('a refused message may be accepted later and keeps that answer', async () => {
  const deployment = await mustSetting('lmdb-inline').start();
  try {
    const platform = new Platform();
    const bet = platform.bet('t1', 70);
    const send = (message: typeof bet): Step => ({ type: 'send', message, delivery: 'once' });
    const repeat: Step = { type: 'repeat', messages: [bet], isListed: true };
    const player = await new FreshPlayers(deployment.wire).takeWith(60);
    const history = new PlayedHistory(deployment.wire, player, undefined);
    for (const step of [send(bet), send(platform.move('m1', 'CREDIT', 30)), send(bet), repeat]) {
      assert.equal(await history.take(step), undefined);
    }
    const reported = history.answers.flat().map(({ statusCode, balanceAfter }) => [statusCode, balanceAfter]);
    assert.deepEqual(reported, [
      [10002, undefined],
      [0, 90],
      [0, 20],
      [0, 20],
    ]);
  } finally {
    await deployment.close();
  }
});

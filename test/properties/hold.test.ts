import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { drawHistory } from './draw-history.js';
import type { Operator } from './player-client.js';
import { hold, type Outcome, type Property } from './property.js';

const SEED = randomInt(1, 2 ** 31 - 1);
const CASES = 200;
const NOWHERE = undefined as unknown as Operator;

function property(outcomeOf: (endpoints: readonly string[]) => Outcome): Property {
  return {
    title: 'a property of the test',
    draw: (random) => ({ history: drawHistory(random) }),
    check: async (_, { history }) => outcomeOf(history.map(({ endpoint }) => endpoint)),
  };
}

test('a case that breaks a property is shrunk to the relevant messages', async (t) => {
  t.diagnostic(`seed ${SEED}`);
  const broken = property((endpoints) => {
    return endpoints.indexOf('rollback') > endpoints.indexOf('placeBets') && endpoints.includes('placeBets')
      ? { broken: 'a rollback behind a bet' }
      : 'holds';
  });
  await assert.rejects(
    hold(broken, NOWHERE, SEED, (cases) => cases < CASES),
    /^Error: seed \d+: a property of the test: broken\n {2}q\d+ P\d placeBets .*\n {2}q\d+ P\d rollback .*\n {2}a rollback behind a bet$/,
  );
});

test("cases that do not meet a property's precondition are counted separately", async (t) => {
  t.diagnostic(`seed ${SEED}`);
  const some = property((endpoints) => (endpoints.length % 2 === 0 ? 'holds' : 'says nothing'));
  const { holds, saysNothing } = await hold(some, NOWHERE, SEED, (cases) => cases < CASES);
  assert.equal(holds + saysNothing, CASES);
  assert.ok(holds > 0 && saysNothing > 0);
});

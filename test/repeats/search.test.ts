import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { type Explored, explore } from './explore.js';
import { shortestOf } from './shortest.js';
import { type ToyBug, ToyWire } from './toy-wire.js';

const BALANCE = 1000;
const REPEATS = 4000;
const SEED = randomInt(1, 2 ** 31 - 1);

let made = 0;
const players = { take: async () => ({ username: `toy-${made++}`, currency: 'THB', balance: BALANCE }) };

async function exploreToy(bug: ToyBug): Promise<{ explored: Explored; wire: ToyWire }> {
  const wire = new ToyWire(BALANCE, bug);
  const plan = { seed: SEED, lanes: 4, pauseMs: 0, findingsMax: 1 };
  const explored = await explore(wire, players, plan, ({ repeats }) => repeats < REPEATS);
  return { explored, wire };
}

test('the search finds no violation by an operator that keeps the promises', async (t) => {
  t.diagnostic(`seed ${SEED}`);
  const { explored } = await exploreToy('none');
  assert.deepEqual(explored.broken, []);
  assert.ok(explored.counts.repeats >= REPEATS);
});

test('the search finds a repeat that is paid twice, and shrinks it', async (t) => {
  t.diagnostic(`seed ${SEED}`);
  const { explored, wire } = await exploreToy('a reward behind a cancel is paid again');
  const [broken] = explored.broken;
  assert.ok(broken !== undefined, 'it is found');
  const { steps, text } = await shortestOf(broken, wire, players, 0);
  const told = steps.map((step) =>
    step.type === 'send' ? [step.message.endpoint, step.message.txns.length] : step.type,
  );
  const sent = told.filter((one) => one !== 'repeat');
  assert.deepEqual(new Set(sent.map(([endpoint]) => endpoint as string)), new Set(['winRewards', 'cancelBets']), text);
  assert.deepEqual([told.length, told.at(-1), sent.every(([, length]) => length === 1)], [3, 'repeat', true], text);
  assert.match(text, /REPEAT q\d+ P\d winRewards/);
});

test('the search finds two concurrent copies that are both executed', async (t) => {
  t.diagnostic(`seed ${SEED}`);
  const { explored } = await exploreToy('copies at once are both carried out');
  assert.equal(explored.broken[0]?.violation.promised, 'a message moves the balance once, by its own balances');
});

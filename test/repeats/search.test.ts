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
  const plan = { seed: SEED, senders: 4, pauseMs: 0, findingsMax: 1 };
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
  const sends = steps.flatMap((step) => (step.type === 'send' ? [step] : []));
  const sent = sends.map(({ message }) => `${message.endpoint} ${message.txns.length}`);
  const cancelAndReward = ['cancelBets 1', 'winRewards 1'];
  assert.deepEqual([...sent].sort(), cancelAndReward, text);
  // The deliveries `at once` and `cut` already send a message twice. With any other delivery, the last step repeats the
  // message.
  const last = steps.at(-1);
  const isRepeat = last?.type === 'repeat' || (last?.type === 'send' && last.delivery !== 'once');
  assert.ok(isRepeat && steps.length === sends.length + (last.type === 'repeat' ? 1 : 0), text);
  assert.match(text, /(REPEAT|at once|cut) q\d+ P\d winRewards/);
});

test('the search finds two concurrent copies that are both executed', async (t) => {
  t.diagnostic(`seed ${SEED}`);
  const { explored } = await exploreToy('copies at once are both carried out');
  assert.equal(explored.broken[0]?.violation.promised, 'a message moves the balance once, by its own balances');
});

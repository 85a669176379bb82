import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inPlayerOrder } from '../../src/push/in-player-order.js';
import type { PushedEvent } from '../../src/push/sink.js';
import { eventOf } from './fakes.js';

const PLAYERS = ['anna', 'bert', 'cleo'];
const EVENTS = Array.from({ length: 30 }, (_, index) => eventOf(PLAYERS[index % PLAYERS.length] as string, index));

test('events of one player are sent one after the other, of different players concurrently', async () => {
  const sending = new Set<string>();
  const sent: PushedEvent[] = [];
  let concurrentMax = 0;
  await inPlayerOrder(EVENTS, 2, async (event) => {
    assert.ok(!sending.has(event.subject), event.subject);
    sending.add(event.subject);
    concurrentMax = Math.max(concurrentMax, sending.size);
    await new Promise(setImmediate);
    sending.delete(event.subject);
    sent.push(event);
  });
  assert.equal(concurrentMax, 2);
  for (const player of PLAYERS) {
    const isTheirs = ({ subject }: PushedEvent) => subject === player;
    assert.deepEqual(sent.filter(isTheirs), EVENTS.filter(isTheirs));
  }
});

test('after a failure of one event no later event begins', async () => {
  const begun: string[] = [];
  let begunAtFailure = 0;
  const sending = inPlayerOrder(EVENTS, 3, async ({ id, subject }) => {
    begun.push(id);
    await new Promise(setImmediate);
    if (subject !== 'bert') return;
    begunAtFailure = begun.length;
    throw new Error('refused');
  });
  await assert.rejects(sending, { message: 'refused' });
  assert.equal(begun.length, begunAtFailure);
});

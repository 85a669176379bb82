import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SentCallback } from '../../src/callback/sent-callback.js';
import { OutgoingRequests } from '../../src/threads/outgoing-requests.js';

const callback = (text: string): SentCallback => ({
  endpoint: 'placeBets',
  text,
  deadlineMs: 1000,
  isSigned: false,
  isTraced: false,
});
const request = { shard: 0, deadlineMs: 1000, query: { type: 'read-player', username: 'ann' } } as const;

/** The waiting ends are names. A turn ends when the test calls `endTurn`. */
function bench() {
  const sent: string[] = [];
  const deferred: (() => void)[] = [];
  const outgoing = new OutgoingRequests<string, string>(
    (callbacks, firstId, requests) => {
      const texts = callbacks.map(({ text }) => text).join(' ');
      sent.push(`${firstId}: ${texts}, requests ${requests.map(({ id }) => id).join(' ')}`);
    },
    (run) => void deferred.push(run),
  );
  const endTurn = () => {
    for (const run of deferred.splice(0)) run();
  };
  return { outgoing, sent, endTurn };
}

test('requests of one turn are sent together, with consecutive ids', () => {
  const { outgoing, sent, endTurn } = bench();
  outgoing.addCallback(callback('a'), 'ann');
  outgoing.addCallback(callback('b'), 'bob');
  outgoing.addRequest(request, 'console');
  endTurn();
  outgoing.addCallback(callback('c'), 'cat');
  endTurn();
  assert.deepEqual(sent, ['1: a b, requests 1', '3: c, requests ']);
});

test('each answer finds its waiting end once', () => {
  const { outgoing, endTurn } = bench();
  outgoing.addCallback(callback('a'), 'ann');
  outgoing.addRequest(request, 'console');
  endTurn();
  assert.deepEqual([outgoing.takeCallback(1), outgoing.takeCallback(1)], ['ann', undefined]);
  assert.deepEqual([outgoing.takeRequest(1), outgoing.takeRequest(1)], ['console', undefined]);
  assert.equal(outgoing.waiting, 0);
});

test('requests to an end that is lost are returned and not sent', () => {
  const { outgoing, sent, endTurn } = bench();
  outgoing.addCallback(callback('a'), 'ann');
  outgoing.addRequest(request, 'console');
  assert.deepEqual(outgoing.takeAll(), { callbacks: ['ann'], requests: ['console'] });
  endTurn();
  assert.deepEqual([sent, outgoing.waiting], [[], 0]);
});

test('late requests are taken wherever they stand', () => {
  const { outgoing } = bench();
  for (const name of ['new', 'old', 'newer']) outgoing.addCallback(callback(name), name);
  outgoing.addRequest(request, 'old');
  assert.deepEqual(
    outgoing.takeLate((name) => name === 'old'),
    ['old', 'old'],
  );
  assert.equal(outgoing.waiting, 2);
});

test('the number of unanswered requests is limited', () => {
  const { outgoing } = bench();
  const one = callback('a');
  for (let i = 0; i < 99_999; i++) outgoing.addCallback(one, 'ann');
  assert.equal(outgoing.isFull, false);
  outgoing.addRequest(request, 'console');
  assert.equal(outgoing.isFull, true);
});

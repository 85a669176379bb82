import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnswerOnce } from '../../src/base/answer-once.js';
import { silentLogger } from '../../src/base/logger.js';
import { systemTimers } from '../../src/base/timers.js';
import type { CallbackReply } from '../../src/callback/callback-codec.js';
import { PeerCalls } from '../../src/cluster/peer-calls.js';
import { PeerClocks } from '../../src/cluster/peer-clocks.js';
import { RoutedCallback, RoutedRequest } from '../../src/cluster/routed.js';
import { ReplyColumns } from '../../src/threads/columns.js';
import type { WireResult } from '../../src/threads/protocol.js';

const rerouter = { log: silentLogger, refusedHere: () => assert.fail('nothing is routed again') };

function calls(): PeerCalls {
  const clocks = { toTheirs: (_tag: string, ms: number) => ms } as unknown as PeerClocks;
  const timers = { ...systemTimers, defer: () => {} };
  return new PeerCalls('a', { clocks, timers, send: () => true, onRefused: () => assert.fail('nothing is refused') });
}

test('a failure that only a newer owner knows is answered with an unknown outcome', () => {
  const peer = calls();
  const replies: CallbackReply[] = [];
  const replier = new AnswerOnce<CallbackReply>({ reply: (reply) => void replies.push(reply) }, silentLogger);
  const callback = { endpoint: 'placeBets', text: '{}', deadlineMs: 1000, isSigned: false, isTraced: false } as const;
  assert.equal(peer.trySend(new RoutedCallback(0, callback, replier, rerouter)), true);
  const columns = new ReplyColumns();
  columns.push(1, { answer: { type: 'failed', failure: 'moon-phase' as 'unsure' }, body: '{"statusCode":777}' });
  peer.replied(columns, 0);
  assert.deepEqual(replies, [{ answer: { type: 'failed', failure: 'unsure' }, body: '' }]);
});

test('an operator gets an unknown outcome for an unknown failure name', () => {
  const peer = calls();
  const results: WireResult[] = [];
  const replier = new AnswerOnce<WireResult>({ reply: (result) => void results.push(result) }, silentLogger);
  const request = { shard: 0, deadlineMs: 1000, query: { type: 'read-player', username: 'ann' } } as const;
  assert.equal(peer.trySend(new RoutedRequest(request, replier, rerouter)), true);
  peer.answered([1], [{ type: 'failed', failure: 'moon-phase' as 'unsure' }], 0);
  assert.deepEqual(results, [{ type: 'failed', failure: 'unsure' }]);
});

test('an operator learns that the node is older when its result lacks a field', () => {
  const peer = calls();
  const results: WireResult[] = [];
  const replier = new AnswerOnce<WireResult>({ reply: (result) => void results.push(result) }, silentLogger);
  const request = { shard: 0, deadlineMs: 1000, query: { type: 'read-player', username: 'ann' } } as const;
  assert.equal(peer.trySend(new RoutedRequest(request, replier, rerouter)), true);
  const player = { username: 'ann', currency: 'THB', balance: 5, status: 'active' };
  peer.answered([1], [{ type: 'player', player } as unknown as WireResult], 0);
  assert.deepEqual(results, [{ type: 'failed', failure: 'upgrading' }]);
});

test("a callback is routed again if its peer's clock is forgotten before it is sent", () => {
  const clocks = new PeerClocks();
  // The peer started 15 minutes after this node.
  clocks.heard('a', 1000, 901_000);
  const deferred: (() => void)[] = [];
  const timers = { ...systemTimers, defer: (run: () => void) => void deferred.push(run) };
  const refused: [unknown, string][] = [];
  const peer = new PeerCalls('a', {
    clocks,
    timers,
    send: () => assert.fail('nothing is sent'),
    onRefused: (...one) => void refused.push(one),
  });
  const replier = new AnswerOnce<CallbackReply>({ reply: () => assert.fail('it is routed again') }, silentLogger);
  const callback = {
    endpoint: 'placeBets',
    text: '{}',
    deadlineMs: 903_000,
    isSigned: false,
    isTraced: false,
  } as const;
  const routed = new RoutedCallback(0, callback, replier, rerouter);
  assert.equal(peer.trySend(routed), true);
  clocks.forgetAll();
  for (const run of deferred) run();
  assert.deepEqual(refused, [[routed, 'moved']]);
  assert.equal(peer.waiting, 0);
});

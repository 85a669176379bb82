import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/logger.js';
import type { Replier } from '../../src/base/replier.js';
import type { CallbackReply } from '../../src/callback/callback-codec.js';
import { newClusterShards } from '../../src/cluster/cluster-shard.js';
import { PeerClocks } from '../../src/cluster/peer-clocks.js';
import type { PeerMessage } from '../../src/cluster/peer-protocol.js';
import type { LocalShards } from '../../src/cluster/routed.js';
import { Router } from '../../src/cluster/router.js';
import { Routes } from '../../src/cluster/routes.js';
import { MOVED, TOO_LATE, UNSURE } from '../../src/ports/request.js';
import { ReplyColumns } from '../../src/threads/columns.js';
import type { Command } from '../../src/wallet/command.js';
import type { Answer } from '../../src/wallet/decision.js';
import type { BusyAnswer } from '../../src/wallet/rejection.js';
import { VirtualTime } from '../simulation/virtual-time.js';
import { commands } from '../support/domain.js';
import { CODEC } from '../support/host-deps.js';
import { TestHost, turns } from '../support/test-host.js';

/* Tests of one node's router. Its peer `a` serves shard 0 unless this node does. */

const REFUSED: Answer = { type: 'failed', failure: 'insufficient-balance' };
const { place } = commands;
const BET = JSON.stringify({
  id: 'req-1',
  timestampMillis: 1_795_000_000_000,
  productId: 'SLOTS',
  currency: 'THB',
  username: 'ann',
  txns: [{ id: 't1', status: 'OPEN', roundId: 'r1', betAmount: 10, gameCode: 'fortune', playInfo: 'spin' }],
});

function routerOver(local: LocalShards, isHere: boolean, refusesRepeats = false) {
  const time = new VirtualTime();
  const sent: PeerMessage[] = [];
  const logged: object[] = [];
  const shards = newClusterShards(1, 0);
  const routes = new Routes(shards);
  const clocks = new PeerClocks();
  clocks.heard('a', 0, 0);
  if (!isHere) routes.opened('a', 0, 1);
  const router = new Router({
    tag: 'here',
    shards,
    local,
    isServedHere: () => isHere,
    links: { isUp: () => true, send: (_, message) => sent.push(message) > 0 },
    routes,
    clocks,
    codec: CODEC,
    clock: { now: () => time.wallMs(), monotonicMs: () => time.nowMs },
    timers: time,
    log: { ...silentLogger, error: (fields) => void logged.push(fields) },
    parkedMax: 10,
    refusesRepeats,
  });
  return { router, time, routes, sent, logged };
}

/** Shards that must not receive anything. */
const NO_SHARDS: LocalShards = {
  carryOut: () => assert.fail('there are no callbacks'),
  ask: () => assert.fail('there are no queries'),
  execute: () => assert.fail('there are no commands'),
};

/** Shards that hand their repliers to the test. */
function keepsRepliers(repliers: Replier<Answer | BusyAnswer>[]): LocalShards {
  return { ...NO_SHARDS, execute: (_shard, _command, _deadlineMs, replier) => void repliers.push(replier) };
}

test('a refused bet is not decided again after another reply of its append throws', async () => {
  const test = await TestHost.started({ shards: 1 });
  const { router, time } = routerOver(test.host, true);
  await test.fund('ann', 5);
  const reported: Answer[] = [];
  const execute = (command: Command, reply: (answer: Answer) => void) =>
    router.execute(0, command, Number.POSITIVE_INFINITY, { reply });
  execute(place([{ id: 't1', betAmount: 10 }]), (answer) => void reported.push(answer));
  execute(place([{ id: 't2', betAmount: 10 }]), () => {
    throw new Error('a bug');
  });
  await turns(20);
  await test.execute({ type: 'deposit', id: 'd-1', username: 'ann', amount: 100 });
  await time.pass(1000);
  await turns(20);
  assert.deepEqual(reported, [REFUSED]);
  assert.equal(await test.balance('ann'), 105);
});

test('a second answer to an attempt on this node triggers no resend', async () => {
  const repliers: Replier<Answer | BusyAnswer>[] = [];
  const { router, time } = routerOver(keepsRepliers(repliers), true);
  const reported: Answer[] = [];
  router.execute(0, place([{ id: 't1' }]), 10_000, { reply: (answer) => void reported.push(answer) });
  repliers[0]?.reply(REFUSED);
  repliers[0]?.reply(UNSURE);
  await time.pass(1000);
  assert.equal(repliers.length, 1);
  assert.equal(router.parked, 0);
  assert.deepEqual(reported, [REFUSED]);
});

test('a second answer to a callback attempt triggers no resend', async () => {
  const repliers: Replier<CallbackReply>[] = [];
  const local = {
    ...NO_SHARDS,
    carryOut: (_: unknown, replier: Replier<CallbackReply>) => void repliers.push(replier),
  };
  const { router, time } = routerOver(local, true);
  const reported: CallbackReply[] = [];
  const callback = { endpoint: 'placeBets', text: BET, deadlineMs: 10_000, isSigned: false, isTraced: false } as const;
  router.carryOut(callback, { reply: (reply) => void reported.push(reply) });
  for (const answer of [REFUSED, UNSURE]) repliers[0]?.reply({ answer, body: '{}' });
  await time.pass(1000);
  assert.equal(repliers.length, 1);
  assert.deepEqual(reported, [{ answer: REFUSED, body: '{}' }]);
});

test('an attempt refused twice is repeated once', async () => {
  const repliers: Replier<Answer | BusyAnswer>[] = [];
  const { router, time } = routerOver(keepsRepliers(repliers), true);
  router.execute(0, place([{ id: 't1' }]), 10_000, { reply() {} });
  repliers[0]?.reply(MOVED);
  repliers[0]?.reply(UNSURE);
  await time.pass(1000);
  assert.equal(repliers.length, 2);
  repliers[0]?.reply(UNSURE);
  await time.pass(1000);
  assert.equal(repliers.length, 2, 'the second attempt is under way');
});

test('a reply callback that throws does not hold back other replies of the message', async () => {
  const { router, time, routes, sent, logged } = routerOver(NO_SHARDS, false);
  const reported: CallbackReply[] = [];
  for (const i of [0, 1, 2]) {
    router.carryOut(
      { endpoint: 'placeBets', text: BET, deadlineMs: 10_000, isSigned: false, isTraced: false },
      {
        reply: (reply) => {
          if (i === 1) throw new Error('a bug');
          reported.push(reply);
        },
      },
    );
  }
  await time.pass(1);
  const replies = new ReplyColumns();
  const calls = sent[0];
  assert.ok(calls?.type === 'calls');
  for (const i of [0, 1, 2]) replies.push(calls.callbacks.firstId + i, { answer: REFUSED, body: '{}' });
  router.receive('a', { type: 'replies', replies });
  router.receive('a', { type: 'replies', replies });
  routes.gone('a');
  router.linkLost('a');
  assert.equal(reported.length, 2);
  assert.equal(router.waiting, 0);
  assert.deepEqual(
    logged.map((fields) => (fields as { code: string }).code),
    ['reply-failed'],
  );
});

/** Sends a bet to a peer whose link then ends. A moment later a different peer serves the shard. */
async function withLostLink(refusesRepeats: boolean) {
  const { router, time, routes, sent } = routerOver(NO_SHARDS, false, refusesRepeats);
  const reported: Answer[] = [];
  router.execute(0, place([{ id: 't1' }]), 10_000, { reply: (answer) => void reported.push(answer) });
  await time.pass(1);
  routes.gone('a');
  router.linkLost('a');
  routes.opened('a', 0, 2);
  await time.pass(1000);
  return { reported, asks: sent.filter(({ type }) => type === 'asks').length };
}

test('a command whose link is lost is not resent if repeats are refused', async () => {
  assert.deepEqual(await withLostLink(true), { reported: [UNSURE], asks: 1 });
});

test('a command whose link is lost is resent if repeats are answered', async () => {
  assert.deepEqual(await withLostLink(false), { reported: [], asks: 2 });
});

test('a command whose link is lost after its deadline is not resent', async () => {
  const { router, time, routes, sent } = routerOver(NO_SHARDS, false);
  const reported: Answer[] = [];
  router.execute(0, place([{ id: 't1' }]), 30, { reply: (answer) => void reported.push(answer) });
  await time.pass(40);
  router.linkLost('a');
  routes.opened('a', 0, 2);
  await time.pass(1000);
  assert.deepEqual(reported, [TOO_LATE]);
  assert.equal(sent.length, 1);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/logger.js';
import type { Replier } from '../../src/base/replier.js';
import { newClusterShards } from '../../src/cluster/cluster-shard.js';
import { PeerClocks } from '../../src/cluster/peer-clocks.js';
import type { PeerMessage } from '../../src/cluster/peer-protocol.js';
import { Router } from '../../src/cluster/router.js';
import { Routes } from '../../src/cluster/routes.js';
import { MOVED, OVERLOADED, TOO_LATE } from '../../src/ports/request.js';
import type { BusyAnswer } from '../../src/wallet/rejection.js';
import { VirtualTime } from '../simulation/virtual-time.js';
import { CODEC } from '../support/host-deps.js';

const TIMEOUT_MS = 3000;
const PARKED_MAX = 3;
/** The only shard that requests are for. */
const SHARD = 0;

interface Sent {
  readonly to: string;
  readonly id: number;
  readonly name: string;
}

/** One node's router, and its messages to the peers `a` and `b`. Requests are named after their players. */
class Bench {
  readonly time = new VirtualTime();
  private readonly shards = newClusterShards(1, 0);
  readonly routes = new Routes(this.shards);
  readonly router: Router;
  /** True if this node believes that it serves the shard, which refuses everything. */
  isHere = false;
  triedHere = 0;
  readonly answers: { readonly name: string; readonly atMs: number; readonly answer: unknown }[] = [];
  private readonly sent: Sent[] = [];

  constructor() {
    const { time, routes } = this;
    const clocks = new PeerClocks();
    for (const tag of ['a', 'b']) clocks.heard(tag, 0, 0);
    this.router = new Router({
      tag: 'here',
      shards: this.shards,
      local: {
        carryOut: () => assert.fail('there are no callbacks'),
        execute: () => assert.fail('there are no commands'),
        ask: (_shard, _query, _deadlineMs, replier: Replier<BusyAnswer>) => {
          this.triedHere++;
          replier.reply(MOVED);
        },
      },
      isServedHere: () => this.isHere,
      links: { isUp: () => true, send: (to, message) => this.send(to, message) },
      routes,
      clocks,
      codec: CODEC,
      clock: { now: () => time.wallMs(), monotonicMs: () => time.nowMs },
      timers: time,
      log: silentLogger,
      parkedMax: PARKED_MAX,
      refusesRepeats: false,
    });
  }

  ask(name: string): void {
    this.router.ask(SHARD, { type: 'read-player', username: name }, this.time.nowMs + TIMEOUT_MS, {
      reply: (answer) => void this.answers.push({ name, atMs: this.time.nowMs, answer }),
    });
  }

  /** The peer that last received the request refuses it. */
  refuse(name: string): void {
    const found = this.sent.findLast((one) => one.name === name);
    assert.ok(found !== undefined, `${name} was not sent`);
    this.router.receive(found.to, { type: 'results', ids: [found.id], results: [MOVED] });
  }

  get order(): readonly string[] {
    return this.sent.map(({ to, name }) => `${name} to ${to}`);
  }

  private send(to: string, message: PeerMessage): boolean {
    assert.ok(message.type === 'asks');
    for (const request of message.requests) {
      assert.ok('query' in request && request.query.type === 'read-player');
      this.sent.push({ to, id: request.id, name: request.query.username });
    }
    return true;
  }
}

/** Sends `old` to a peer that no longer serves the shard. The peer returns it after `young` has begun to wait. */
async function withReturnedRequest(): Promise<Bench> {
  const bench = new Bench();
  bench.routes.opened('a', SHARD, 1);
  bench.ask('old');
  await bench.time.pass(1000);
  bench.routes.gone('a');
  bench.ask('young');
  bench.refuse('old');
  return bench;
}

test('a returned request waits for its shard in its old position', async () => {
  const bench = await withReturnedRequest();
  bench.routes.opened('b', SHARD, 2);
  bench.router.flush();
  await bench.time.pass(1);
  assert.deepEqual(bench.order, ['old to a', 'old to b', 'young to b']);
});

test('a returned request is answered at its own deadline while it waits', async () => {
  const bench = await withReturnedRequest();
  await bench.time.pass(TIMEOUT_MS);
  assert.deepEqual(bench.answers, [
    { name: 'old', atMs: 3000, answer: TOO_LATE },
    { name: 'young', atMs: 4000, answer: TOO_LATE },
  ]);
});

test('a request behind younger ones at a silent peer is answered at its deadline', async () => {
  const bench = new Bench();
  bench.routes.opened('a', SHARD, 1);
  bench.ask('old');
  await bench.time.pass(1000);
  bench.routes.opened('b', SHARD, 2);
  bench.ask('young');
  bench.refuse('old');
  await bench.time.pass(TIMEOUT_MS);
  assert.deepEqual(bench.order, ['old to a', 'young to b', 'old to b']);
  assert.deepEqual(bench.answers, [
    { name: 'old', atMs: 3000, answer: TOO_LATE },
    { name: 'young', atMs: 4000, answer: TOO_LATE },
  ]);
});

test('refused requests are parked up to a limit and retried in order', async () => {
  const bench = new Bench();
  bench.isHere = true;
  for (const name of ['one', 'two', 'three', 'four']) bench.ask(name);
  assert.deepEqual(bench.answers, [{ name: 'four', atMs: 0, answer: OVERLOADED }]);
  await bench.time.pass(50);
  assert.equal(bench.triedHere, 7, 'each is tried once more');
  bench.isHere = false;
  bench.routes.opened('b', SHARD, 2);
  bench.router.flush();
  await bench.time.pass(1);
  assert.deepEqual(bench.order, ['one to b', 'two to b', 'three to b']);
});

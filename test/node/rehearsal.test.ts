import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/logger.js';
import { loadHttpLibrary } from '../../src/http/http-library.js';
import { EMPTY_ARCHIVE } from '../../src/node/boot/rehearsal/empty-archive.js';
import { type RehearsalDeps, rehearseShards } from '../../src/node/boot/rehearsal/rehearse-shards.js';
import { rehearseThread } from '../../src/node/boot/rehearsal/rehearse-thread.js';
import { roundOfPlay, stakesOf } from '../../src/node/boot/rehearsal/rounds-of-play.js';
import { openScratchListener } from '../../src/node/boot/rehearsal/scratch-listener.js';
import { untilWarm } from '../../src/node/boot/rehearsal/until-warm.js';
import { rulesOf } from '../../src/node/settings/rules.js';
import type { Archive } from '../../src/ports/archive.js';
import { MemoryGuard } from '../../src/upkeep/memory-guard.js';
import { heldAfter } from '../support/garbage.js';
import { CODEC, DEAF } from '../support/host-deps.js';
import { settingsWith } from '../support/settings.js';
import { TestNode } from '../support/test-node.js';

const SETTINGS = settingsWith();
const MEMORY = { heapMaxBytes: 2 ** 29, recordsMaxBytes: 2 ** 29 };
const MEMORY_GUARD = new MemoryGuard({ ...MEMORY, youngBytes: 2 ** 24 }, silentLogger);
const META = { scales: { default: 4, byCurrency: {} } };

/** Rehearses for one round. Returns the distinct types of the executed commands and of their answers. */
async function rehearsed(listen?: RehearsalDeps['listen'], archive?: Archive) {
  const endpoints = new Set<string>();
  const answers = new Set<string>();
  const observer = {
    ...DEAF,
    close: () => {},
    decided: (
      _: number,
      { command, decision }: { command: { type: string }; decision: { answer: { type: string } } },
    ) => {
      endpoints.add(command.type);
      answers.add(decision.answer.type);
    },
  };
  const { limits } = SETTINGS;
  const { callbacks } = await rehearseShards({
    codec: CODEC,
    rules: rulesOf(SETTINGS),
    limits,
    memory: MEMORY_GUARD,
    archive,
    newObserver: () => observer,
    stakes: [1],
    maxMs: 1,
    owners: 2,
    listen,
  });
  return { callbacks, endpoints: [...endpoints].sort(), answers: [...answers] };
}

const ALL = [
  'adjustBalance',
  'adjustBets',
  'cancelBets',
  'cancelTips',
  'checkBalance',
  'import-player',
  'placeBets',
  'placeTips',
  'rollback',
  'settleBets',
  'voidSettled',
  'winRewards',
];

test('a rehearsal executes all eleven callbacks, and each is accepted', async () => {
  const { callbacks, endpoints, answers } = await rehearsed();
  assert.deepEqual(endpoints, ALL);
  assert.deepEqual(answers, ['accepted']);
  assert.ok(callbacks > 0);
});

test('a rehearsal with an archive executes the same callbacks, and archives nothing', async () => {
  const called = new Set<string>();
  const archive = new Proxy(EMPTY_ARCHIVE, {
    get: (target, name: keyof Archive) => {
      called.add(name);
      return target[name];
    },
  });
  const { endpoints, answers } = await rehearsed(undefined, archive);
  assert.deepEqual(endpoints, ALL);
  assert.deepEqual(answers, ['accepted']);
  assert.ok(!called.has('put'));
});

test('rounds of play differ in products, amounts, ids and session tokens', () => {
  const requests = Array.from({ length: 40 }, (_, play) =>
    roundOfPlay('player', play, stakesOf(4, Number.POSITIVE_INFINITY)),
  ).flat();
  const bodies = requests.map(({ text }) => JSON.parse(text));
  const kindsOf = (kind: (body: (typeof bodies)[number]) => unknown) => new Set(bodies.map(kind)).size;
  assert.equal(
    kindsOf(({ productId }) => productId),
    20,
  );
  assert.equal(
    kindsOf(({ txns }) => txns?.[0].id.replace(/[^:]/g, '').length > 0),
    2,
  );
  assert.equal(
    kindsOf(({ sessionToken }) => sessionToken),
    2,
  );
  assert.deepEqual(
    [...new Set(bodies.flatMap(({ txns }) => (txns?.[0].status === 'TIPS' ? [txns[0].betAmount] : [])))],
    [0.01, 1, 10.5, 900_000],
  );
});

test('stakes of a rehearsal fit the scale and the largest amount', () => {
  assert.deepEqual(stakesOf(4, Number.POSITIVE_INFINITY), [0.01, 1, 10.5, 900_000]);
  assert.deepEqual(stakesOf(0, Number.POSITIVE_INFINITY), [100, 10_000, 105_000, 9_000_000_000]);
  assert.deepEqual(stakesOf(8, 0.001), [0.000_001, 0.000_1]);
  assert.deepEqual(stakesOf(2, 0.5), [1]);
});

test('a rehearsal through a listener executes the same callbacks, and closes the listener', async () => {
  const library = await loadHttpLibrary('auto', silentLogger);
  const { endpoints, answers } = await rehearsed((service) =>
    openScratchListener(SETTINGS, { codec: CODEC, library, meta: META as never, service }),
  );
  assert.deepEqual(endpoints, ALL);
  assert.deepEqual(answers, ['accepted']);
});

test('a rehearsal frees its shards even if its listener remains', async () => {
  const kept: unknown[] = [];
  const listen: RehearsalDeps['listen'] = async (service) => {
    kept.push(service);
    return { play: async () => {}, close: () => {} };
  };
  await rehearsed(listen);
  const held = await heldAfter(async () => {
    for (let i = 0; i < 3; i++) await rehearsed(listen);
  });
  assert.ok(held < 2 ** 22, `${held} bytes`);
});

test('a rehearsal ends even if the settings allow a single connection', async () => {
  const node = await TestNode.start({ rehearsalMaxMs: 50, 'limits.connectionsMax': 1 });
  await node.close();
});

test('a rehearsal that cannot listen does not prevent the start', async () => {
  const logLines: string[] = [];
  const log = { ...silentLogger, info: (_: object, message: string) => logLines.push(message) };
  const thread = { settings: settingsWith({ rehearsalMaxMs: 50 }), meta: META as never, ...MEMORY };
  await rehearseThread(thread, CODEC, log, { maxMs: 50, listen: () => Promise.reject(new Error('no port')) });
  assert.deepEqual(logLines, ['rehearsal failed, the first callbacks may be slower']);
});

test('a rehearsal leaves no player, no metric and no log line', async () => {
  const node = await TestNode.start({ rehearsalMaxMs: 50 });
  try {
    const metrics = await (await fetch(`${node.adminUrl}/metrics`)).text();
    assert.match(metrics, /^walletd_players\S* 0$/m);
    assert.doesNotMatch(metrics, /^walletd_(callbacks|commands|events)_total\S* [1-9]/m);
    assert.deepEqual(
      node.logLines.filter(({ message }) => /rehears/.test(JSON.stringify(message))),
      [],
    );
  } finally {
    await node.close();
  }
});

test('a rehearsal ends once eight rounds in a row were no faster', () => {
  let nowMs = 0;
  const isLastNow = untilWarm(1000, { monotonicMs: () => nowMs });
  const after = (ms: number) => {
    nowMs += ms;
    return isLastNow();
  };
  assert.deepEqual([20, 15, 10, 9].map(after), [false, false, false, false]);
  assert.deepEqual(
    Array.from({ length: 8 }, () => after(9)),
    [...Array.from({ length: 7 }, () => false), true],
  );
});

test('a rehearsal ends after its maximum time', () => {
  let nowMs = 0;
  const isLastNow = untilWarm(100, { monotonicMs: () => nowMs });
  const after = (ms: number) => {
    nowMs += ms;
    return isLastNow();
  };
  assert.deepEqual([60, 39, 1].map(after), [false, false, true]);
});

import { Counter, Histogram } from 'prom-client';
import { systemClock } from '../../src/base/clock.js';
import { silentLogger } from '../../src/base/logger.js';
import { statusCodesOf } from '../../src/callback/failures.js';
import { CallbackMetrics } from '../../src/node/metrics/callback-metrics.js';
import { ShardTelemetry } from '../../src/node/metrics/shard-telemetry.js';
import type { Turn } from '../../src/ports/shard-observer.js';
import { SECONDS_BOUNDS } from '../../src/telemetry/histogram.js';
import { MemoryGuard } from '../../src/upkeep/memory-guard.js';
import { decide } from '../../src/wallet/decide/decide.js';
import { CALLBACKS, NOW_MS, places, rules, scales } from './callbacks.js';
import { newWallet } from './decide.js';
import type { Group } from './group.js';

const WINDOW_MS = 3000;
const BATCH_BYTES = 16_000;

const wallet = newWallet();
const decisions = places.map((command) => decide(wallet, command, rules, NOW_MS));

const memory = new MemoryGuard({ heapMaxBytes: 1e9, youngBytes: 1e6, recordsMaxBytes: 1e9 }, silentLogger);
memory.close();
const options = {
  thread: 'main',
  scales,
  requestDeadlineMs: WINDOW_MS,
  everySeconds: 0,
  server: () => undefined,
  news: { failed() {}, answered() {} },
};
const shards = new ShardTelemetry(silentLogger, memory, options);
const callbacks = new CallbackMetrics(statusCodesOf('own'));

/** All counting and timing for one batch of callbacks, including the clock readings. */
function ours(): void {
  const decidedMs: number[] = [];
  for (let i = 0; i < CALLBACKS; i++) {
    const startedMs = systemClock.monotonicMs();
    const endedMs = systemClock.monotonicMs();
    decidedMs.push(endedMs);
    const command = places[i] as Turn['command'];
    const decision = decisions[i] as Turn['decision'];
    shards.decided(0, { command, decision, currency: 'THB', deadlineMs: startedMs + WINDOW_MS, startedMs, endedMs });
  }
  const completedMs = systemClock.monotonicMs();
  shards.appendCompleted(0, {
    decidedMs,
    completedMs,
    replies: CALLBACKS,
    events: CALLBACKS,
    bytes: BATCH_BYTES,
    tookMs: 1,
  });
  for (let i = 0; i < CALLBACKS; i++) {
    callbacks.answered('placeBets', 'accepted');
    callbacks.took(decidedMs[i] as number, completedMs, systemClock.monotonicMs());
  }
}

const answers = new Counter({
  name: 'answers',
  help: 'Answers.',
  labelNames: ['endpoint', 'status_code', 'http_status'],
  registers: [],
});
const stages = new Histogram({
  name: 'stages',
  help: 'Stages.',
  labelNames: ['stage'],
  buckets: [...SECONDS_BOUNDS],
  registers: [],
});

/** The same answers and stages, but without counting money and batches. */
function plain(): void {
  for (let i = 0; i < CALLBACKS; i++) {
    const startedMs = systemClock.monotonicMs();
    const endedMs = systemClock.monotonicMs();
    for (const stage of ['queue', 'decide', 'durable', 'reply', 'all']) {
      stages.observe({ stage }, (endedMs - startedMs) / 1000);
    }
    answers.inc({ endpoint: 'placeBets', status_code: 0, http_status: 200 });
  }
}

export const counting: Group = {
  name: 'count and time a callback',
  operations: CALLBACKS,
  cases: [{ name: 'plain numbers', run: ours }],
  alternative: { name: "prom-client's counters and histograms", run: plain },
};

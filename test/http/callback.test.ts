import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { type Clock, systemClock } from '../../src/base/clock.js';
import { silentLogger } from '../../src/base/logger.js';
import { CallbackCodec } from '../../src/callback/callback-codec.js';
import { statusCodesOf } from '../../src/callback/failures.js';
import { CallbackLog } from '../../src/http/callback-log.js';
import { CallbackServer } from '../../src/http/callback-server.js';
import { loadHttpLibrary } from '../../src/http/http-library.js';
import { ConnectionCounts } from '../../src/listener/connection-counts.js';
import { CallbackMetrics } from '../../src/node/metrics/callback-metrics.js';
import { callersOf } from '../../src/node/settings/callers.js';
import { AmountLimits, ScaleTable } from '../../src/wallet/amount.js';
import { bet } from '../support/client.js';
import { heldAfter } from '../support/garbage.js';
import { settingsWith } from '../support/settings.js';
import { until } from '../support/until.js';

interface SilentServer {
  readonly port: number;
  readonly http: CallbackServer;
  /** Deadlines of the callbacks that reached the store. */
  readonly deadlinesMs: number[];
}

/** Runs a server whose store does not respond: callbacks reach the store but are never answered. */
async function withSilentStore(
  run: (server: SilentServer) => Promise<void>,
  { clock = systemClock, requestDeadlineMs = 100 }: { clock?: Clock; requestDeadlineMs?: number } = {},
): Promise<void> {
  const settings = settingsWith();
  const scales = new ScaleTable({ default: 2, byCurrency: {} });
  const amountLimits = new AmountLimits({ default: 1e9, byCurrency: {} }, scales);
  const codes = statusCodesOf('own');
  const repliers: unknown[] = [];
  const deadlinesMs: number[] = [];
  const http = new CallbackServer(
    {
      settings: { ...settings.limits, ...settings, port: 0, requestDeadlineMs, aliases: new Map(), tls: undefined },
      codec: new CallbackCodec(
        {
          scales,
          amountLimits,
          creditMax: null,
          movementMax: null,
          txnsMax: 100,
          isStrict: false,
          includesReason: true,
          sessionToken: 'ignore',
          closed: 'own',
        },
        clock,
      ),
      service: {
        carryOut({ deadlineMs }, replier) {
          deadlinesMs.push(deadlineMs);
          repliers.push(replier);
        },
      },
      clock,
      observer: new CallbackMetrics(codes),
      counts: new ConnectionCounts(),
      tracer: undefined,
      log: new CallbackLog(settings.log, silentLogger, scales, codes),
    },
    callersOf(settings),
    await loadHttpLibrary(settings.httpLibrary, silentLogger),
    silentLogger,
  );
  try {
    await run({ port: await http.listen(), http, deadlinesMs });
  } finally {
    http.close();
  }
}

const BODY = JSON.stringify(bet('ann', 'b1'));
const HEADERS = `POST /placeBets HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${BODY.length}\r\n\r\n`;

/** A body so large that 40 of them take 8 MB. */
const LARGE = BODY + ' '.repeat(200_000);
const LARGE_HEADERS = `POST /placeBets HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${LARGE.length}\r\n\r\n`;
const COUNT = 40;
const HELD_MAX = 3_000_000;

test('a callback that expires during an outage releases its body', async () => {
  let nowMs = 0;
  const clock = { now: () => nowMs, monotonicMs: () => nowMs };
  await withSilentStore(
    async ({ port, deadlinesMs }) => {
      const init = { method: 'POST', body: LARGE };
      const send = async () => (await fetch(`http://127.0.0.1:${port}/placeBets`, init)).status;
      /** Sends `count` requests that all arrive before their deadline. */
      const expire = async (count: number) => {
        const wanted = deadlinesMs.length + count;
        const sending = Promise.all(Array.from({ length: count }, send));
        await until('the callbacks are there', () => deadlinesMs.length === wanted);
        nowMs += 1000;
        assert.deepEqual(new Set(await sending), new Set([503]));
      };
      await expire(1);
      const held = await heldAfter(() => expire(COUNT));
      assert.ok(held < HELD_MAX, `${held} bytes`);
    },
    { clock },
  );
});

test('an aborted callback releases its body long before its deadline', () =>
  withSilentStore(
    async ({ port, http, deadlinesMs }) => {
      const held = await heldAfter(async () => {
        for (let i = 0; i < COUNT; i++) {
          const socket = connect(port, '127.0.0.1');
          socket.write(LARGE_HEADERS + LARGE);
          await until('the callback is there', () => deadlinesMs.length === i + 1);
          socket.destroy();
        }
        await until('all have ended', () => http.inFlight === 0);
      });
      assert.ok(held < HELD_MAX, `${held} bytes`);
    },
    { requestDeadlineMs: 600_000 },
  ));

test('a late body cannot start a callback that has already been answered', async () => {
  let nowMs = 0;
  const clock = { now: () => nowMs, monotonicMs: () => nowMs };
  await withSilentStore(
    async ({ port, http, deadlinesMs }) => {
      const socket = connect(port, '127.0.0.1');
      socket.write(HEADERS);
      await until('the headers are there', () => http.inFlight === 1);
      nowMs = 2000;
      socket.write(BODY);
      await until('the callback is there', () => deadlinesMs.length === 1);
      assert.deepEqual(deadlinesMs, [3000]);
      socket.destroy();
    },
    { clock, requestDeadlineMs: 3000 },
  );
});

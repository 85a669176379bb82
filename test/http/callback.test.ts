import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { type Clock, silentLogger, systemClock } from '../../src/base/ports.js';
import { callersOf } from '../../src/cli/callers.js';
import { loadSettings } from '../../src/config/load.js';
import { CallbackCodec } from '../../src/http/callback-codec.js';
import { CallbackLog } from '../../src/http/callback-log.js';
import { CallbackServer } from '../../src/http/callback-server.js';
import { ScaleTable } from '../../src/wallet/amount.js';
import { bet } from '../support/client.js';
import { stillHeld } from '../support/garbage.js';
import { until } from '../support/until.js';

interface SilentServer {
  readonly port: number;
  readonly http: CallbackServer;
  /** What it was asked to carry out. */
  readonly bytes: WeakRef<Buffer>[];
  readonly deadlinesMs: number[];
}

/** A server whose store is away: what it is asked to carry out is kept, and not answered. */
async function withSilentStore(
  run: (server: SilentServer) => Promise<void>,
  { clock = systemClock, requestDeadlineMs = 100 }: { clock?: Clock; requestDeadlineMs?: number } = {},
): Promise<void> {
  const settings = loadSettings({});
  const scales = new ScaleTable({ default: 2, byCurrency: {} });
  const repliers: unknown[] = [];
  const bytes: WeakRef<Buffer>[] = [];
  const deadlinesMs: number[] = [];
  const http = new CallbackServer(
    {
      settings: { ...settings.limits, ...settings, port: 0, requestDeadlineMs, tls: undefined },
      codec: new CallbackCodec({ scales, amountMax: 1e9, txnsMax: 100 }, clock),
      service: {
        carryOut({ bytes: body, deadlineMs }, replier) {
          bytes.push(new WeakRef(body));
          deadlinesMs.push(deadlineMs);
          repliers.push(replier);
        },
      },
      clock,
      log: new CallbackLog(settings.log, silentLogger, scales),
    },
    callersOf(settings),
    silentLogger,
  );
  try {
    await run({ port: http.listen(), http, bytes, deadlinesMs });
  } finally {
    http.close();
  }
}

const BODY = JSON.stringify(bet('ann', 'b1'));
const HEADERS = `POST /placeBets HTTP/1.1\r\nHost: x\r\nContent-Length: ${BODY.length}\r\n\r\n`;

test('a callback that was answered by its deadline keeps no bytes, however long the store is away', () =>
  withSilentStore(async ({ port, bytes }) => {
    const init = { method: 'POST', body: BODY };
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => fetch(`http://127.0.0.1:${port}/placeBets`, init)),
    );
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([503]));
    assert.equal(bytes.length, 10);
    assert.equal(await stillHeld(bytes), 0);
  }));

test('nor does one whose caller has broken off', () =>
  withSilentStore(async ({ port, http, bytes }) => {
    const socket = connect(port, '127.0.0.1');
    socket.end(HEADERS + BODY);
    await until('the callback is there', 5000, () => bytes.length === 1);
    socket.destroy();
    await until('the callback has ended', 5000, () => http.inFlight === 0);
    assert.equal(await stillHeld(bytes), 0);
  }));

test('however late its body comes, a callback may be begun until it is answered and no longer', async () => {
  let nowMs = 0;
  const clock = { now: () => nowMs, monotonicMs: () => nowMs };
  await withSilentStore(
    async ({ port, http, deadlinesMs }) => {
      const socket = connect(port, '127.0.0.1');
      socket.write(HEADERS);
      await until('the headers are there', 5000, () => http.inFlight === 1);
      nowMs = 2000;
      socket.write(BODY);
      await until('the callback is there', 5000, () => deadlinesMs.length === 1);
      assert.deepEqual(deadlinesMs, [3000]);
      socket.destroy();
    },
    { clock, requestDeadlineMs: 3000 },
  );
});

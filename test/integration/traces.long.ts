import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { bet, importPlayers, PlatformClient } from '../support/client.js';
import { inTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { WalletdProcess } from '../support/walletd-process.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
}

/** Collects spans over OTLP in JSON, like OpenTelemetry's collector. */
async function withCollector(run: (url: string, spans: readonly Span[]) => Promise<void>): Promise<void> {
  const spans: Span[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (data) => {
      text += data;
    });
    request.on('end', () => {
      const { resourceSpans } = JSON.parse(text) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
      for (const { scopeSpans } of resourceSpans) spans.push(...scopeSpans.flatMap((scope) => scope.spans));
      response.setHeader('Content-Type', 'application/json').end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

for (const workers of ['0', '1']) {
  test(`a callback's spans join its caller's trace (${workers} workers)`, () =>
    withCollector((url, spans) =>
      inTempFolder(async (folder) => {
        const walletd = await WalletdProcess.start({
          WALLETD_STORE: `lmdb:${folder}/data`,
          WALLETD_WORKERS: workers,
          WALLETD_LOG_CALLBACKS: 'all',
          OTEL_EXPORTER_OTLP_ENDPOINT: url,
          OTEL_TRACES_SAMPLER: 'parentbased_always_off',
          OTEL_BSP_SCHEDULE_DELAY: '50',
        });
        await importPlayers(walletd.adminUrl, ['ann'], 100);
        const flags = ['01', '00'];
        const client = new PlatformClient(walletd.callbackUrl, 0, () => {
          const flag = flags.shift();
          const header: Record<string, string> =
            flag === undefined ? {} : { traceparent: `00-${TRACE}-${CALLER}-${flag}` };
          return header;
        });
        for (const id of ['sampled', 'not-sampled', 'alone']) await client.post('placeBets', bet('ann', id));
        client.close();
        const whole = await until(
          'the spans are there',
          () => spans.length >= 5 && spans.find(({ name }) => name === 'placeBets'),
        );
        await walletd.waitFor(({ requestId }) => requestId === 'q-alone');
        assert.equal(await walletd.end('SIGTERM'), 0);
        assert.deepEqual([whole.traceId, whole.parentSpanId], [TRACE, CALLER]);
        const result = whole.attributes.find(({ key }) => key === 'walletd.result');
        assert.equal(result?.value.stringValue, 'accepted');
        const stages = spans.filter((span) => span !== whole);
        assert.deepEqual(stages.map(({ name }) => name).sort(), ['decide', 'durable', 'receive', 'reply']);
        let lastNs = 0n;
        for (const name of ['receive', 'decide', 'durable', 'reply']) {
          const span = stages.find((one) => one.name === name);
          assert.deepEqual([span?.traceId, span?.parentSpanId], [TRACE, whole.spanId], name);
          const [fromNs, toNs] = [BigInt(span?.startTimeUnixNano ?? 0), BigInt(span?.endTimeUnixNano ?? 0)];
          assert.ok(lastNs <= fromNs && fromNs <= toNs, `${name}: ${lastNs} ${fromNs} ${toNs}`);
          lastNs = toNs;
        }
        const logged = walletd.log
          .filter(({ msg }) => msg === 'callback')
          .map(({ requestId, trace_id }) => [requestId, trace_id]);
        assert.deepEqual(logged, [
          ['q-sampled', TRACE],
          ['q-not-sampled', TRACE],
          ['q-alone', undefined],
        ]);
      }),
    ));
}

test('an unreachable collector causes only a log line', () =>
  inTempFolder(async (folder) => {
    const walletd = await WalletdProcess.start({
      WALLETD_STORE: `lmdb:${folder}/data`,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_EXPORTER_OTLP_TIMEOUT: '100',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    });
    const client = new PlatformClient(walletd.callbackUrl);
    assert.equal((await client.post('placeBets', bet('nobody', 'b'))).statusCode, 10001);
    client.close();
    await walletd.waitFor(({ code }) => code === 'traces-not-sent');
    assert.equal(await walletd.end('SIGTERM'), 0);
  }));

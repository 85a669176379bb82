import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/logger.js';
import { samplerOf } from '../../src/node/jobs/sampler.js';
import { openTracer } from '../../src/node/jobs/tracing.js';
import { parseTraceParent } from '../../src/telemetry/trace-parent.js';

const parent = (isSampled: boolean, traceId = 'a'.repeat(32)) =>
  `00-${traceId}-${'b'.repeat(16)}-${isSampled ? '01' : '0a'}`;
const withSampler = (OTEL_TRACES_SAMPLER: string, OTEL_TRACES_SAMPLER_ARG = '') =>
  samplerOf({ OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG });

test('without an endpoint there is no tracer', async () => {
  assert.equal(await openTracer({ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, silentLogger), undefined);
});

test("by default the caller's sampling applies; without one, callbacks are sampled", () => {
  const sampler = samplerOf({});
  assert.deepEqual([sampler(parent(true)), sampler(parent(false)), sampler('')], [true, false, true]);
});

test('OTEL_TRACES_SAMPLER has the meaning defined by OpenTelemetry', () => {
  for (const [name, ofSampled, ofOther, ofRoot] of [
    ['always_on', true, true, true],
    ['always_off', false, false, false],
    ['parentbased_always_off', true, false, false],
    ['parentbased_always_on', true, false, true],
  ] as const) {
    const sampler = withSampler(name);
    assert.deepEqual([sampler(parent(true)), sampler(parent(false)), sampler('')], [ofSampled, ofOther, ofRoot], name);
  }
  assert.throws(() => withSampler('sometimes'), /OTEL_TRACES_SAMPLER cannot be sometimes/);
  for (const ratio of ['x', '2', '-1']) assert.throws(() => withSampler('traceidratio', ratio), /a number from 0 to 1/);
});

test('a ratio samples by trace ID, so that all services agree', () => {
  const sampler = withSampler('traceidratio', '0.25');
  const ending = (digits: string) => parent(true, `${'a'.repeat(24)}${digits}`);
  assert.deepEqual([sampler(ending('3fffffff')), sampler(ending('40000000'))], [true, false]);
  assert.deepEqual([withSampler('traceidratio', '0')(''), withSampler('traceidratio', '1')('')], [false, true]);
});

test('a traceparent is parsed as W3C defines it', () => {
  const ids = '0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331';
  const [traceId, spanId] = ids.split('-');
  assert.deepEqual(parseTraceParent(`00-${ids}-01`), { traceId, spanId, isSampled: true });
  assert.deepEqual(parseTraceParent(`00-${ids}-02`), { traceId, spanId, isSampled: false });
  assert.deepEqual(parseTraceParent(`cc-${ids}-01-what-comes-later`), { traceId, spanId, isSampled: true });
  for (const wrong of ['', 'x', `ff-${ids}-01`, `00-${ids}`, `00-${ids}-01\r\nx`, `00-${ids.toUpperCase()}-01`])
    assert.equal(parseTraceParent(wrong), undefined, wrong);
  assert.equal(parseTraceParent(`00-${'0'.repeat(32)}-${spanId}-01`), undefined);
  assert.equal(parseTraceParent(`00-${traceId}-${'0'.repeat(16)}-01`), undefined);
});

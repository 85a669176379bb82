import {
  diag,
  type HrTime,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type Tracer as SpanMaker,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { systemClock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { FAILURES } from '../../callback/failures.js';
import type { Outcome } from '../../http/callback-observer.js';
import type { CallbackSpan, CallbackTimes, CallbackTracer } from '../../http/callback-trace.js';
import type { TraceParent } from '../../telemetry/trace-parent.js';
import type { Endpoint } from '../../wallet/command.js';
import { BUILD } from '../settings/version.js';
import { type Sampler, samplerOf } from './sampler.js';

/**
 * Time limit for sending the remaining spans at shutdown. An unresponsive collector must not delay shutdown, which
 * takes at most 5 s according to the docs.
 */
const CLOSE_MS = 500;
const SAY_MS = 60_000;

/**
 * Sends spans in batches over OTLP (HTTP, JSON), configured by the standard OpenTelemetry variables. The queue has a
 * limited length, and spans that do not fit are dropped.
 */
export class OtlpTracer implements CallbackTracer {
  private constructor(
    private readonly provider: BasicTracerProvider,
    private readonly tracer: SpanMaker,
    readonly isSampled: Sampler,
  ) {}

  static open(env: NodeJS.ProcessEnv, log: Logger): OtlpTracer {
    const isSampled = samplerOf(env);
    logProblems(log);
    const provider = new BasicTracerProvider({
      resource: defaultResource()
        .merge(resourceFromAttributes({ 'service.name': 'walletd', 'service.version': BUILD }))
        .merge(detectResources({ detectors: [envDetector] })),
      spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
    });
    return new OtlpTracer(provider, provider.getTracer('walletd', BUILD), isSampled);
  }

  begin(endpoint: Endpoint, parent: TraceParent | undefined): CallbackSpan {
    return new OtlpSpan(this.tracer, endpoint, parent);
  }

  async close(): Promise<void> {
    const closed = this.provider.shutdown().catch(() => {});
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref())]);
  }
}

/**
 * placeBets ├──────────────────────────────────────────┤
 *             receive ├──┤  decide ├┤ durable ├─────┤ reply ├┤
 *
 * Between receive and decide, the command waits for its turn.
 */
class OtlpSpan implements CallbackSpan {
  private readonly span: Span;

  constructor(
    private readonly tracer: SpanMaker,
    endpoint: Endpoint,
    parent: TraceParent | undefined,
  ) {
    const within =
      parent === undefined
        ? ROOT_CONTEXT
        : trace.setSpanContext(ROOT_CONTEXT, { ...parent, traceFlags: TraceFlags.SAMPLED, isRemote: true });
    const attributes = { 'http.request.method': 'POST', 'url.path': `/${endpoint}` };
    const startTime = hrTime(Date.now());
    this.span = tracer.startSpan(endpoint, { kind: SpanKind.SERVER, attributes, startTime }, within);
  }

  get traceId(): string {
    return this.span.spanContext().traceId;
  }

  end(outcome: Outcome | 'aborted', { startedMs, readMs, turn, readyMs, endedMs }: CallbackTimes): void {
    const { span } = this;
    const offsetMs = Date.now() - systemClock.monotonicMs();
    const stage = (name: string, fromMs: number | undefined, toMs: number | undefined) => {
      if (fromMs === undefined || toMs === undefined) return;
      const within = trace.setSpan(ROOT_CONTEXT, span);
      this.tracer.startSpan(name, { startTime: hrTime(fromMs + offsetMs) }, within).end(hrTime(toMs + offsetMs));
    };
    stage('receive', startedMs, readMs);
    stage('decide', turn?.startedMs, turn?.endedMs);
    stage('durable', turn?.endedMs, readyMs);
    stage('reply', readyMs, endedMs);
    span.setAttribute('walletd.result', outcome);
    if (outcome === 'aborted') span.setStatus({ code: SpanStatusCode.ERROR, message: outcome });
    else {
      const { httpStatus } = outcome === 'accepted' ? { httpStatus: 200 } : FAILURES[outcome];
      span.setAttribute('http.response.status_code', httpStatus);
      if (httpStatus >= 500) span.setStatus({ code: SpanStatusCode.ERROR, message: outcome });
    }
    span.end(hrTime(endedMs + offsetMs));
  }
}

/**
 * Returns seconds and nanoseconds, because OpenTelemetry interprets a small plain number as a reading of a different
 * clock.
 */
function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

/** Limits the number of log lines, because every batch fails while the collector is unreachable. */
function logProblems(log: Logger): void {
  let saidMs = Number.NEGATIVE_INFINITY;
  const say = (message: string) => {
    const nowMs = systemClock.monotonicMs();
    if (nowMs - saidMs < SAY_MS) return;
    saidMs = nowMs;
    log.warn({ code: 'traces-not-sent', error: String(message) }, 'cannot send traces');
  };
  const ignore = () => {};
  diag.setLogger({ error: say, warn: ignore, info: ignore, debug: ignore, verbose: ignore });
}

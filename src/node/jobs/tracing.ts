import type { Logger } from '../../base/logger.js';
import type { CallbackTracer } from '../../http/callback-trace.js';

/** OpenTelemetry variables that name the destination of traces. */
const ENDPOINTS = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];

/** Loads OpenTelemetry only if one of these variables names an endpoint. */
export async function openTracer(env: NodeJS.ProcessEnv, log: Logger): Promise<CallbackTracer | undefined> {
  if (!ENDPOINTS.some((name) => env[name])) return undefined;
  const { OtlpTracer } = await import('./otlp-tracer.js');
  return OtlpTracer.open(env, log);
}

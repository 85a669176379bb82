import type { Logger } from '../base/logger.js';
import type { CallbackTracer } from '../http/callback-trace.js';

/** The variables of OpenTelemetry that say where traces go. */
const ENDPOINTS = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];

/** Where these name no endpoint nothing of OpenTelemetry is loaded. */
export async function maybeTracer(env: NodeJS.ProcessEnv, log: Logger): Promise<CallbackTracer | undefined> {
  if (!ENDPOINTS.some((name) => env[name])) return undefined;
  const { OtlpTracer } = await import('./otlp-tracer.js');
  return OtlpTracer.open(env, log);
}

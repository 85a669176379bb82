import type { TurnTimes } from '../callback/sent-callback.js';
import { parseTraceParent, type TraceParent } from '../telemetry/trace-parent.js';
import type { Endpoint } from '../wallet/command.js';
import type { Outcome } from './callback-observer.js';

/** Times by the monotonic clock; undefined for a stage that was not reached. */
export interface CallbackTimes {
  readonly startedMs: number;
  /** The time at which the whole body had arrived. */
  readonly readMs: number | undefined;
  readonly turn: TurnTimes | undefined;
  /** The time at which the answer was ready to send. */
  readonly readyMs: number | undefined;
  readonly endedMs: number;
}

/** Exports callback spans to a trace collector. */
export interface CallbackTracer {
  /**
   * Decides from the traceparent header, which may be empty or invalid, whether the callback is sampled. Called for
   * every callback.
   */
  isSampled(header: string): boolean;
  begin(endpoint: Endpoint, parent: TraceParent | undefined): CallbackSpan;
  /** Exports the remaining spans. Resolves soon enough not to delay a shutdown. */
  close(): Promise<void>;
}

export interface CallbackSpan {
  readonly traceId: string;
  /** Ends the span. Must be called only once. */
  end(outcome: Outcome | 'aborted', times: CallbackTimes): void;
}

/** A callback's trace context, for its log line and, if sampled, for its spans. */
export class CallbackTrace {
  readMs: number | undefined = undefined;
  turn: TurnTimes | undefined = undefined;

  private constructor(
    readonly traceId: string,
    readonly span: CallbackSpan | undefined,
  ) {}

  /** Undefined if the callback is neither logged nor sampled, or has no trace id. */
  static tryStart(
    endpoint: Endpoint,
    header: string,
    tracer: CallbackTracer | undefined,
    isLogged: boolean,
  ): CallbackTrace | undefined {
    const isSampled = tracer?.isSampled(header) ?? false;
    if (!isSampled && !isLogged) return undefined;
    const parent = parseTraceParent(header);
    const span = isSampled ? tracer?.begin(endpoint, parent) : undefined;
    const traceId = span?.traceId ?? parent?.traceId;
    return traceId === undefined ? undefined : new CallbackTrace(traceId, span);
  }
}

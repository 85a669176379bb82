import type { TurnTimes } from '../callback/sent-callback.js';
import { parseTraceParent, type TraceParent } from '../telemetry/trace-parent.js';
import type { Endpoint } from '../wallet/command.js';
import type { Outcome } from './callback-observer.js';

/** Times of the monotonic clock. A stage that did not happen is undefined. */
export interface CallbackTimes {
  readonly startedMs: number;
  /** Time at which the whole body had arrived. */
  readonly readMs: number | undefined;
  readonly turn: TurnTimes | undefined;
  /** Time at which the answer could be sent. */
  readonly readyMs: number | undefined;
  readonly endedMs: number;
}

/** Sends the spans of callbacks to a trace collector. */
export interface CallbackTracer {
  /** Decides by the header traceparent, which may be empty or invalid. Called for every callback. */
  isSampled(header: string): boolean;
  begin(endpoint: Endpoint, parent: TraceParent | undefined): CallbackSpan;
  /** Sends the remaining spans; resolves in time for a stop. */
  close(): Promise<void>;
}

export interface CallbackSpan {
  readonly traceId: string;
  /** Call this once. */
  end(outcome: Outcome | 'aborted', times: CallbackTimes): void;
}

/** A callback's part of a trace, for its log line and, when sampled, for its spans. */
export class CallbackTrace {
  readMs: number | undefined = undefined;
  turn: TurnTimes | undefined = undefined;

  private constructor(
    readonly traceId: string,
    readonly span: CallbackSpan | undefined,
  ) {}

  /** Undefined when the callback is neither logged nor sampled; that check does not read the header. */
  static maybeOf(
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

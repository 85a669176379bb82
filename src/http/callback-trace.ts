import type { TurnTimes } from '../callback/sent-callback.js';
import { maybeTraceParent, type TraceParent } from '../telemetry/trace-parent.js';
import type { Endpoint } from '../wallet/command.js';
import type { Outcome } from './callback-observer.js';

/** Of the monotonic clock. What did not happen is undefined. */
export interface CallbackTimes {
  readonly startedMs: number;
  /** When all of its body was there. */
  readonly readMs: number | undefined;
  readonly turn: TurnTimes | undefined;
  /** When its answer could be sent. */
  readonly readyMs: number | undefined;
  readonly endedMs: number;
}

/** Sends the spans of callbacks to where traces are collected. */
export interface CallbackTracer {
  /** By the header traceparent, which is empty or anything where the caller sends none: asked of every callback. */
  isSampled(header: string): boolean;
  begin(endpoint: Endpoint, parent: TraceParent | undefined): CallbackSpan;
  /** Sends what is left; resolves in time for an end. */
  close(): Promise<void>;
}

export interface CallbackSpan {
  readonly traceId: string;
  /** To be called once. */
  end(outcome: Outcome | 'aborted', times: CallbackTimes): void;
}

/** A callback's part of a trace: for its line in the log and, where it is sampled, for its spans. */
export class CallbackTrace {
  readMs: number | undefined = undefined;
  turn: TurnTimes | undefined = undefined;

  private constructor(
    readonly traceId: string,
    readonly span: CallbackSpan | undefined,
  ) {}

  /** Undefined where nobody wants to know: that it is neither logged nor sampled is found out without reading the header. */
  static maybeOf(
    endpoint: Endpoint,
    header: string,
    tracer: CallbackTracer | undefined,
    isLogged: boolean,
  ): CallbackTrace | undefined {
    const isSampled = tracer?.isSampled(header) ?? false;
    if (!isSampled && !isLogged) return undefined;
    const parent = maybeTraceParent(header);
    const span = isSampled ? tracer?.begin(endpoint, parent) : undefined;
    const traceId = span?.traceId ?? parent?.traceId;
    return traceId === undefined ? undefined : new CallbackTrace(traceId, span);
  }
}

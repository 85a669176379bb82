import type { Clock } from '../base/clock.js';
import type { Replier } from '../base/replier.js';
import type { CallbackCodec, CallbackReply } from '../callback/callback-codec.js';
import type { SentCallback } from '../callback/sent-callback.js';
import type { ConnectionCounts } from '../listener/connection-counts.js';
import type { RefusalLog } from '../telemetry/refusal-log.js';
import type { Endpoint } from '../wallet/command.js';
import type { Admission, AdmissionSettings } from './admission.js';
import type { CallbackLog } from './callback-log.js';
import type { CallbackObserver } from './callback-observer.js';
import type { CallbackTracer } from './callback-trace.js';
import type { TlsFiles } from './http-port.js';

/** Executes callbacks with a `CallbackCodec`, in any thread. */
export interface CallbackService {
  /** Executes a callback. Calls the replier once, when the answer is durable. */
  carryOut(callback: SentCallback, replier: Replier<CallbackReply>): void;
}

export interface CallbackSettings extends AdmissionSettings {
  readonly host: string;
  /** The port to listen on; 0 selects a free port. */
  readonly port: number;
  /** Additional endpoint paths. */
  readonly aliases: ReadonlyMap<string, Endpoint>;
  readonly bodyBytesMax: number;
  readonly connectionsMax: number;
  /** Time limit of a callback, after which the answer is that the outcome is unknown. */
  readonly requestDeadlineMs: number;
  /** Certificate files for TLS; undefined for plain HTTP. */
  readonly tls: TlsFiles | undefined;
}

export interface CallbackDeps {
  readonly settings: CallbackSettings;
  readonly codec: CallbackCodec;
  readonly service: CallbackService;
  readonly admission: Admission;
  readonly refusals: RefusalLog;
  /** Logs the rules that malformed callbacks violate. */
  readonly malformed: RefusalLog;
  readonly clock: Clock;
  readonly observer: CallbackObserver;
  readonly counts: ConnectionCounts;
  readonly log: CallbackLog;
  /** True if each answer closes its connection, because this listener is shutting down and another one takes over. */
  readonly ending: { isEnding: boolean };
  /** Exports traces; undefined if there is no trace collector. */
  readonly tracer: CallbackTracer | undefined;
}

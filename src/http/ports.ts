import type { Clock, Replier } from '../base/ports.js';
import type { RefusalLog } from '../telemetry/refusal-log.js';
import type { CallbackCommand, Endpoint } from '../wallet/command.js';
import type { Answer } from '../wallet/decision.js';
import type { Admission, AdmissionSettings } from './admission.js';
import type { CallbackLog } from './callback-log.js';
import type { CallbackMetrics } from './callback-metrics.js';
import type { RequestCodec } from './request-codec.js';
import type { ResponseCodec } from './response-codec.js';
import type { TlsFiles } from './uws.js';

/** Whoever carries commands out. The replier is called once, when the answer is durable. */
export interface CommandService {
  execute(command: CallbackCommand, replier: Replier<Answer>): void;
}

export interface CallbackSettings extends AdmissionSettings {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly bodyBytesMax: number;
  readonly connectionsMax: number;
  /** After this the answer is that the outcome is unknown. */
  readonly requestDeadlineMs: number;
  /** Undefined: plain HTTP. */
  readonly tls: TlsFiles | undefined;
}

export interface CallbackDeps {
  readonly settings: CallbackSettings;
  readonly requests: Readonly<Record<Endpoint, RequestCodec>>;
  readonly responses: ResponseCodec;
  readonly service: CommandService;
  readonly admission: Admission;
  readonly refusals: RefusalLog;
  readonly clock: Clock;
  readonly metrics: CallbackMetrics;
  readonly log: CallbackLog;
}

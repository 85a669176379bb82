import type { CallbackFailure } from '../callback/failures.js';
import type { Refusal } from '../callback/refusal.js';
import type { Endpoint } from '../wallet/command.js';

/** What became of a request: it was accepted, or the failure it was answered with. */
export type Outcome = 'accepted' | CallbackFailure;
/** 'other': no callback's path or method. */
export type Addressed = Endpoint | 'other';

/** Hears what the callback listener does; called on the hot path. */
export interface CallbackObserver {
  answered(to: Addressed, outcome: Outcome): void;
  /** Times are of the monotonic clock. `readyMs`, when the answer could be sent, is undefined for a refusal. */
  took(startedMs: number, readyMs: number | undefined, endedMs: number): void;
  /** Beside `answered`: why a callback was malformed. */
  malformed(to: Endpoint, refusal: Refusal): void;
  /** A connection ended before its callback was answered. */
  aborted(): void;
}

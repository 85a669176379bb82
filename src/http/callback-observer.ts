import type { CallbackFailure } from '../callback/failures.js';
import type { BodyRefusal } from '../callback/refusal.js';
import type { Endpoint } from '../wallet/command.js';

/** The outcome of a request: accepted, or the failure in its answer. */
export type Outcome = 'accepted' | CallbackFailure;
/** `other` means that neither the path nor the method belongs to a callback. */
export type Addressed = Endpoint | 'other';

/** Observes the callback listener; called on the hot path. */
export interface CallbackObserver {
  answered(to: Addressed, outcome: Outcome): void;
  /**
   * Times are readings of the monotonic clock. `readyMs` is when the answer was ready to send; undefined for a refusal.
   */
  took(startedMs: number, readyMs: number | undefined, endedMs: number): void;
  /** Called, in addition to `answered`, with the reason why a callback was malformed. */
  malformed(to: Endpoint, refusal: BodyRefusal): void;
  /** Called when a connection ended before its callback was answered. */
  aborted(): void;
}

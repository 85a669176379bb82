import { AssertionFailure } from '../base/assert.js';
import type { Logger } from '../base/logger.js';
import { messageOf } from '../base/message-of.js';
import { RecoveryError } from './recovery-error.js';

/** Retry policy during an outage. */
export interface RetryPolicy {
  readonly attemptsMax: number;
  readonly log: Logger;
  readonly delay: (ms: number) => Promise<void>;
}

/**
 * Number of attempts at startup. They take about ten seconds in total, because an operator may be waiting for the
 * result.
 */
export const ATTEMPTS_AT_START = 10;
const RETRY_MS = 200;
const RETRY_MAX_MS = 2000;

/**
 * Calls `run` and retries during an outage of the store, with increasing delay. Gives up after the last attempt, or
 * immediately if no retry can succeed.
 */
export async function withRetries<T>(
  what: string,
  policy: RetryPolicy,
  run: () => Promise<T>,
  isHopeless: (error: unknown) => boolean = isPermanent,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (attempt >= policy.attemptsMax || isHopeless(error)) throw error;
      policy.log.warn(
        { code: 'store-retried', what, error: messageOf(error), attempt },
        'store request failed, will retry',
      );
      await policy.delay(Math.min(RETRY_MS * attempt, RETRY_MAX_MS));
    }
  }
}

/** True if the log is broken or walletd has a bug, so that no retry can succeed. */
export function isPermanent(error: unknown): boolean {
  return error instanceof RecoveryError || error instanceof AssertionFailure;
}

import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { messageOf } from '../../base/message-of.js';
import { isOutage } from '../../base/outage-error.js';

const RETRY_MS = 250;
const SAY_MS = 5000;

interface Waiting {
  /** Maximum time to wait during an outage. After that, the store's error is thrown. */
  readonly waitMs: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Logger;
}

/**
 * Opens a store and waits if it is unreachable, because after a reboot the store may start later than walletd. Any
 * other error ends the wait at once: a wrong password, for example, does not become right with time.
 */
export async function waitForStore<T>(open: () => Promise<T>, { waitMs, clock, log }: Waiting): Promise<T> {
  const startedMs = clock.monotonicMs();
  let saidMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    try {
      const opened = await open();
      if (saidMs > 0) log.info({ waitedMs: Math.round(clock.monotonicMs() - startedMs) }, 'store is available');
      return opened;
    } catch (error) {
      const nowMs = clock.monotonicMs();
      const leftMs = startedMs + waitMs - nowMs;
      if (!isOutage(error) || leftMs <= 0) throw error;
      if (nowMs - saidMs >= SAY_MS) {
        saidMs = nowMs;
        log.warn(
          { code: 'store-awaited', error: messageOf(error), leftMs: Math.round(leftMs) },
          'waiting for the store',
        );
      }
      await delay(Math.min(RETRY_MS, leftMs));
    }
  }
}

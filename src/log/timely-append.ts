import type { Clock } from '../base/clock.js';
import { RecoveryError } from '../ports/recovery-error.js';
import type { Wal } from '../ports/wal.js';

/**
 * Maximum delay after the deadline within which an answer is still trusted. A server that has been replaced may wake up
 * later and confirm an append.
 */
const ANSWER_MS = 1000;

/**
 * Thrown if the fence was too late to take over the log as it was found, because the former owner may have continued.
 * The caller can retry the takeover.
 */
export class OverdueError extends RecoveryError {
  override readonly name = 'OverdueError';

  constructor() {
    super('the fence could not be written in time');
  }
}

/**
 * Appends for a new owner which has ensured that no other owner acknowledges an entry missing from the log before
 * `untilMs`. Sends nothing after that time, even if opening a connection takes long, and does not trust answers that
 * arrive long after it. Compare-and-set alone is not sufficient: a failover may lose entries that were acknowledged
 * meanwhile, and the log then looks unchanged. An append that is sent in time but executed late runs on the server to
 * which it was sent. On that server it precedes all later appends, which then conflict.
 */
export function timelyAppend(wal: Pick<Wal, 'append'>, untilMs: number, clock: Clock): Pick<Wal, 'append'> {
  const isPast = (ms: number) => clock.monotonicMs() >= ms;
  const isLate = () => isPast(untilMs);
  return {
    append: async (appends) => {
      if (isLate()) throw new OverdueError();
      const outcomes = await wal.append(appends, isLate);
      if (isPast(untilMs + ANSWER_MS)) throw new OverdueError();
      return outcomes;
    },
  };
}

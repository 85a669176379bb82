import type { Clock } from '../../base/clock.js';
import { RecoveryError } from './recovery-error.js';
import type { Wal } from './wal.js';

/** A replaced server may wake up this late and still confirm an append. */
const ANSWER_MS = 1000;

/** Too late to take a log over in the state found: its former owner may have gone on. The take-over can be retried. */
export class OverdueError extends RecoveryError {
  override readonly name = 'OverdueError';

  constructor() {
    super('the fence could not be written in time');
  }
}

/**
 * Appends for a new owner who has ensured that, until `untilMs`, no other owner acknowledges an entry missing from the
 * log. Sends nothing after that time, however long a connection takes, and distrusts answers that come long after it.
 * Compare-and-set alone is not enough: a failover may lose entries acknowledged meanwhile, and the log then looks
 * unchanged. An append sent in time but executed late runs on the server it was sent to. There it precedes all later
 * appends, which then conflict.
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

import type { Clock } from '../../base/clock.js';
import { RecoveryError } from './recovery-error.js';
import type { Wal } from './wal.js';

/** A server that another one has replaced may wake up after so long, and still say yes. */
const ANSWER_MS = 1000;

/** Too late to take a log over as it was found: whoever had it may have gone on. It can be tried anew. */
export class OverdueError extends RecoveryError {
  override readonly name = 'OverdueError';

  constructor() {
    super('the fence could not be written in time');
  }
}

/**
 * Appends for whoever has made sure that until then nobody else tells of anything that is not in the log: nothing is sent
 * later, however long a connection takes, and no answer believed that comes long after. By compare-and-set alone a log that has
 * lost in a failover what was told meanwhile would look as it was found. What was sent in time and is carried out late is so by
 * the server that it was sent to: there it comes before what is appended later, and that one conflicts.
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

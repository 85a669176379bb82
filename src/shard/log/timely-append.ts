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
 * later, and no answer believed that comes long after. By compare-and-set alone a log that has lost in a failover what was told
 * meanwhile would look as it was found.
 */
export function timelyAppend(wal: Pick<Wal, 'append'>, untilMs: number, clock: Clock): Pick<Wal, 'append'> {
  const check = (byMs: number) => {
    if (clock.monotonicMs() >= byMs) throw new OverdueError();
  };
  return {
    append: async (appends) => {
      check(untilMs);
      const outcomes = await wal.append(appends);
      check(untilMs + ANSWER_MS);
      return outcomes;
    },
  };
}

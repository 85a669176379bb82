import { describeMessage } from '../repeats/describe-history.js';
import { drawHistory } from './draw-history.js';
import { PlayerClient } from './player-client.js';
import type { Outcome, Property } from './property.js';

/** A small balance, so that some stakes are refused. */
const BALANCE = 60;
/** Number of messages between two comparisons of lists, because a list costs as much as ten callbacks. */
const LISTED_EVERY = 5;

export const REFUSALS: Property = {
  title: 'a refusal moves nothing',
  draw: (random) => ({ history: drawHistory(random) }),
  check: async (operator, { history }): Promise<Outcome> => {
    const client = await PlayerClient.take(operator, BALANCE);
    let balance = BALANCE;
    let refusals = 0;
    for (const [i, message] of history.entries()) {
      const listed = i % LISTED_EVERY === 0 ? await client.list() : undefined;
      const { statusCode } = await client.send(message);
      const after = await client.balance();
      const isRefused = statusCode !== 0;
      if (isRefused && after !== balance) {
        return {
          broken: `${describeMessage(message)} is refused with ${statusCode}, and moves ${balance} to ${after}`,
        };
      }
      if (isRefused && listed !== undefined && (await client.list()) !== listed) {
        return { broken: `${describeMessage(message)} is refused with ${statusCode}, and changes a transaction` };
      }
      balance = after;
      if (isRefused && listed !== undefined) refusals++;
    }
    return refusals > 0 ? 'holds' : 'says nothing';
  },
};

import { OPENING_BALANCE } from '../../../src/simulate/case.js';
import { Client } from '../../../src/simulate/client.js';
import type { Table } from '../../../src/simulate/play.js';
import type { Players } from '../../../src/simulate/players.js';
import { DEFAULT_PROFILE, type Profile } from '../../../src/simulate/profile.js';
import type { Stranger } from './serve-stranger.js';

/** Time limit for one answer. A loaded machine does not reach it. */
export const ANSWER_MS_MAX = 60_000;

/** Runs a function against a stranger's operator, which does not sign, and ends the operator. */
export async function atStranger<T>(
  stranger: Stranger,
  choices: Partial<Profile>,
  run: (table: Table, players: Players) => Promise<T>,
  client = new Client(stranger.url, ANSWER_MS_MAX, undefined),
): Promise<T> {
  let made = 0;
  const take = async () => ({ username: `simulation-${++made}`, currency: 'THB', balance: OPENING_BALANCE });
  const profile = { ...DEFAULT_PROFILE, ...choices };
  try {
    return await run({ client, profile, retryMs: 0, startMs: 0 }, { take });
  } finally {
    client.close();
    await stranger.end();
  }
}

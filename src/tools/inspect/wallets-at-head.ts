import { AssertionFailure } from '../../base/assert.js';
import { readLog } from '../../log/log-reader.js';
import { Replay } from '../../log/replay.js';
import { compareLsn, formatLsn, type Lsn } from '../../ports/lsn.js';
import { RecoveryError } from '../../ports/recovery-error.js';
import type { Wallet } from '../../wallet/state/wallet.js';
import { newestReplay } from '../snapshot-replay.js';
import type { StoreReader } from '../store-reader.js';

/** The state of some players of a shard at the end of its log. */
export interface WalletsAtHead {
  readonly lsn: Lsn;
  readonly wallets: ReadonlyMap<string, Wallet>;
  /** A sentence that explains why the state is not that of the head; undefined if it is. */
  readonly problem: string | undefined;
}

/**
 * Replays only these players' events. Damage is reported as a sentence instead of an error, so that a broken store can
 * still be inspected.
 */
export async function walletsAtHead(
  shard: number,
  usernames: ReadonlySet<string>,
  reader: StoreReader,
): Promise<WalletsAtHead> {
  const head = await reader.wal.head(shard);
  let lsn = reader.genesis(shard).lsn;
  let replay = Replay.ofNothing(reader.genesis(shard));
  let problem: string | undefined;
  try {
    replay = await newestReplay(shard, reader);
    lsn = replay.start.lsn;
    for await (const page of readLog(shard, replay.start, reader)) {
      for (const { entry } of page) {
        if (compareLsn(entry.lsn, head.lsn) > 0) break;
        for (const event of entry.events) if (usernames.has(event.username)) replay.apply(event, entry.lsn);
        lsn = entry.lsn;
      }
      await reader.yieldTurn();
    }
  } catch (error) {
    if (!(error instanceof RecoveryError || error instanceof AssertionFailure)) throw error;
    problem = `current balances are those at ${formatLsn(lsn)} of shard ${shard}: ${error.message}`;
  }
  const found = [...usernames].flatMap((username) => {
    const wallet = replay.wallets.get(username);
    return wallet === undefined ? [] : ([[username, wallet]] as const);
  });
  return { lsn, wallets: new Map(found), problem };
}

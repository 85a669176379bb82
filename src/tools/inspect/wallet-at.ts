import { readLog } from '../../log/log-reader.js';
import { formatLsn, type Lsn } from '../../ports/lsn.js';
import type { Wallet } from '../../wallet/state/wallet.js';
import { type At, isEarlyEnough, isPast } from '../point-in-time.js';
import { newestReplay } from '../snapshot-replay.js';
import { type StoreReader, ToolError } from '../store-reader.js';

/** The state of a player at a moment. */
export interface WalletAt {
  readonly shard: number;
  readonly lsn: Lsn;
  /** The time of that entry by the shard's clock, in ms. */
  readonly timeMs: number;
  /** Undefined if the player does not exist at that moment. */
  readonly wallet: Wallet | undefined;
}

/**
 * Replays a player's events up to `at`, or to the end of the log. Throws a `ToolError` if the snapshot to start from is
 * later than `at`, and a `RecoveryError` on damage.
 */
export async function walletAt(username: string, at: At | undefined, reader: StoreReader): Promise<WalletAt> {
  const shard = reader.shardOf(username);
  const replay = await newestReplay(shard, reader);
  const { manifest } = replay;
  if (manifest !== undefined && !isEarlyEnough(at, shard, { end: manifest.end.lsn, timeMs: manifest.timeMs })) {
    const earliest = `${new Date(manifest.timeMs).toISOString()}, or ${shard}:${formatLsn(manifest.end.lsn)}`;
    throw new ToolError(`nothing that early is available: shard ${shard} begins at ${earliest}`);
  }
  let { lsn } = replay.start;
  let timeMs = manifest?.timeMs ?? 0;
  read: for await (const page of readLog(shard, replay.start, reader)) {
    for (const { entry } of page) {
      if (isPast(at, entry)) break read;
      for (const event of entry.events) if (event.username === username) replay.apply(event, entry.lsn);
      lsn = entry.lsn;
      timeMs = Math.max(timeMs, entry.timeMs);
    }
    await reader.yieldTurn();
  }
  return { shard, lsn, timeMs, wallet: replay.wallets.get(username) };
}

import { isDeepStrictEqual } from 'node:util';
import type { Replay } from '../../log/replay.js';
import { formatLsn } from '../../ports/lsn.js';
import type { Entry } from '../../ports/wal.js';
import type { Wallet } from '../../wallet/state/wallet.js';
import { imageOf } from '../../wallet/state/wallet-image.js';
import type { Wallets } from '../../wallet/state/wallets.js';
import { forEachWallet } from '../each-wallet.js';
import type { StoreReader } from '../store-reader.js';
import { assertionOf } from './checked-replay.js';
import type { Findings } from './findings.js';

/**
 * Proves that a snapshot agrees with the log. While a long replay proceeds from the snapshot's start to its end, the
 * same events are applied to the snapshot's wallets. If both sets of wallets are equal at the end, they stay equal:
 *
 *   long replay   ... s ─────────────> e ─────> head
 *   snapshot          s ─────────────> e
 *                     ^loaded          ^compared
 */
export class SnapshotProof {
  private hasFailed = false;

  constructor(
    private readonly replay: Replay,
    private readonly shard: number,
    private readonly findings: Findings,
  ) {}

  take({ lsn, events }: Entry): void {
    for (const event of events) {
      if (this.hasFailed) return;
      try {
        this.replay.apply(event, lsn);
      } catch (error) {
        const { message } = assertionOf(error);
        this.add(`does not accept the event of ${event.username} in entry ${formatLsn(lsn)}: ${message}`);
        this.hasFailed = true;
      }
    }
  }

  /** Compares the wallets with those of the long replay, which has reached the end of the snapshot. */
  async compare(wallets: Wallets, reader: StoreReader): Promise<void> {
    if (this.hasFailed) return;
    const mine = this.replay.wallets;
    if (mine.count > wallets.count) this.add(`has ${mine.count} players, but the log has ${wallets.count}`);
    try {
      await forEachWallet(wallets, reader, (wallet, position) => {
        const other = position < mine.count ? mine.at(position) : undefined;
        if (other === undefined) this.add(`lacks ${wallet.username}`);
        else if (!isDeepStrictEqual(imageOf(other), imageOf(wallet))) this.add(differenceOf(other, wallet));
      });
    } catch (error) {
      this.add(`has a wallet that contradicts itself: ${assertionOf(error).message}`);
    }
  }

  private add(what: string): void {
    this.findings.add('snapshot', `shard ${this.shard}: ${this.replay.name} ${what}`);
  }
}

function differenceOf(mine: Wallet, wallet: Wallet): string {
  const { username, version } = wallet;
  if (mine.username !== username) return `has ${mine.username} where the log has ${username}`;
  if (mine.version !== version) return `has version ${mine.version} of ${username}, but the log has ${version}`;
  const what = mine.balance === wallet.balance ? 'another history' : 'another balance';
  return `has ${what} for ${username} than the log, at version ${version}`;
}

import { silentLogger } from '../../src/base/logger.js';
import { rebuild } from '../../src/log/recovery.js';
import { LSN_ZERO } from '../../src/ports/lsn.js';
import type { Entry } from '../../src/ports/wal.js';
import { EntryCodec, genesisHead } from '../../src/store/format/entry-codec.js';
import { SnapshotCodec } from '../../src/store/format/snapshot-codec.js';
import type { StoreMeta } from '../../src/store/meta.js';
import type { Store } from '../../src/store/store.js';
import { apply } from '../../src/wallet/apply.js';
import { imageOf, type WalletImage } from '../../src/wallet/state/wallet-image.js';
import { Wallets } from '../../src/wallet/state/wallets.js';
import type { StoredLog } from './raw-store.js';

export interface RecordedEntry extends Entry {
  readonly bytes: Buffer;
}

/** All entries in a store's logs, by shard. */
export async function recorded(log: StoredLog): Promise<RecordedEntry[][]> {
  const { storeId, shards } = await log.meta();
  const format = new EntryCodec(storeId);
  const all: RecordedEntry[][] = [];
  for (let shard = 0; shard < shards; shard++) {
    const entries = await log.entries(shard, LSN_ZERO, Number.MAX_SAFE_INTEGER);
    all.push(entries.map((bytes) => ({ ...format.decode(bytes), bytes })));
  }
  return all;
}

/** The newest time that occurs in an entry. */
export function latestMsOf({ timeMs, events }: Entry): number {
  return Math.max(timeMs, ...events.map((event) => event.timeMs));
}

/** Wallets by player, computed only from the events in these entries. */
export function folded(entries: Iterable<Entry>): Map<string, WalletImage> {
  const wallets = new Wallets();
  for (const { events } of entries) for (const event of events) apply(wallets, event);
  return imagesOf(wallets);
}

/** Wallets by player, as loaded by a server that starts on this store. */
export async function recovered(
  { wal, snapshots }: Pick<Store, 'wal' | 'snapshots'>,
  meta: StoreMeta,
): Promise<Map<string, WalletImage>> {
  const all = new Map<string, WalletImage>();
  for (let shard = 0; shard < meta.shards; shard++) {
    const head = await wal.head(shard);
    const genesis = genesisHead(meta.storeId, shard);
    const deps = {
      wal,
      snapshots,
      format: new EntryCodec(meta.storeId),
      snapshotFormat: new SnapshotCodec(meta.storeId),
      acknowledged: () => undefined,
      clock: { now: Date.now, monotonicMs: () => performance.now() },
      log: silentLogger,
      attemptsMax: 1,
      delay: async () => {},
      yieldTurn: async () => {},
      recentBytesMax: 0,
    };
    const { wallets } = await rebuild({ shard, genesis, found: head, target: head }, deps);
    for (const [username, image] of imagesOf(wallets)) all.set(username, image);
  }
  return all;
}

function imagesOf(wallets: Wallets): Map<string, WalletImage> {
  return new Map(Array.from(wallets, (wallet) => [wallet.username, imageOf(wallet)]));
}

import { hashOfPlayer } from '../../archive/archive-hash.js';
import { dayOf } from '../../base/time.js';
import { type ArchiveRecord, compareAge } from '../../ports/archive.js';
import { addSerializedRound, nameOfSerialized } from '../../wallet/state/serialized-round.js';
import { Tables } from '../../wallet/state/tables.js';
import { Wallet } from '../../wallet/state/wallet.js';
import type { Wallets } from '../../wallet/state/wallets.js';
import type { StoreReader } from '../store-reader.js';
import { itemsFromSnapshot } from './from-snapshot.js';
import { type InspectQuery, isWanted } from './inspect-query.js';

let tables: Tables | undefined;

/**
 * Adds the archived rounds that a query may need to the wallets of a shard's oldest snapshot. Reads the complete
 * archive, but keeps only matching rounds in memory.
 */
export async function addArchivedRounds(
  wallets: Wallets,
  shard: number,
  query: InspectQuery,
  { archive, yieldTurn }: Pick<StoreReader, 'archive' | 'yieldTurn'>,
): Promise<void> {
  if (archive === undefined || query.type === 'operators') return;
  const player = query.username === undefined ? undefined : hashOfPlayer(query.username);
  const wanted = new Map<string, ArchiveRecord>();
  // A round is archived under the day on which it last changed.
  const sinceDay = query.type === 'credits' ? dayOf(query.sinceMs) : 0;
  for (const day of await archive.days()) {
    if (day < sinceDay) continue;
    for await (const records of archive.all(shard, day)) {
      for (const record of records) {
        if (player === undefined || record.player === player) noteIfWanted(wanted, record, query);
      }
      await yieldTurn();
    }
  }
  for (const { image } of wanted.values()) {
    const { username, productId, roundId } = nameOfSerialized(image);
    const wallet = wallets.get(username);
    if (wallet !== undefined && wallet.round(productId, roundId) === undefined) addSerializedRound(wallet, image);
  }
}

function noteIfWanted(wanted: Map<string, ArchiveRecord>, record: ArchiveRecord, query: InspectQuery): void {
  const { username, productId, roundId } = nameOfSerialized(record.image);
  if (query.username !== undefined && username !== query.username) return;
  if (query.type === 'round' && (productId !== query.productId || roundId !== query.roundId)) return;
  if ((query.type === 'transaction' || query.type === 'credits') && !isNamedIn(record, username, query)) return;
  const key = JSON.stringify([username, productId, roundId]);
  const known = wanted.get(key);
  // Keep the newest record, because a round may have returned to memory and left it again.
  if (known === undefined || compareAge(known, record) < 0) wanted.set(key, record);
}

function isNamedIn({ image, shard }: ArchiveRecord, username: string, query: InspectQuery): boolean {
  tables ??= new Tables();
  const copy = Wallet.begin(tables.copyToWorkOn(), 'XXX', username);
  addSerializedRound(copy, image);
  return itemsFromSnapshot(copy, shard).some((one) => isWanted(query, one));
}

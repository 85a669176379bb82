import type { Lsn } from '../ports/lsn.js';

/**
 * A place in one shard's log: the newest entry whose items are all delivered, and the number of delivered items of the
 * next entry.
 */
export interface ShardPlace {
  readonly lsn: Lsn;
  /**
   * The checksum of the entry at `lsn`. It distinguishes the entry from one with the same LSN in a diverged history.
   */
  readonly checksum: number;
  readonly items: number;
}

/** A consumer's position: one place for each shard. */
export type FeedPosition = readonly ShardPlace[];

/** The first character of the text: the version of its format. */
const VERSION = '1';
const PLACE = /^(\d{1,10})-(\d{1,15})-([0-9a-z]{1,7})(?:-(\d{1,9}))?$/;
const CHECKSUM_RADIX = 36;
const CHECKSUM_MAX = 2 ** 32 - 1;
const EPOCH_MAX = 2 ** 32 - 1;
/** The key of an LMDB entry has 6 bytes for the sequence, and a read begins with the sequence after the place. */
const SEQUENCE_MAX = 2 ** 48 - 2;

/** The position as text that consumers keep and return unchanged. `storeId` ties the text to its store. */
export function formatPosition(position: FeedPosition, storeId: string): string {
  const places = position.map(({ lsn, checksum, items }) => {
    const at = `${lsn.epoch}-${lsn.sequence}-${checksum.toString(CHECKSUM_RADIX)}`;
    return items === 0 ? at : `${at}-${items}`;
  });
  return Buffer.from([VERSION, storeId, ...places].join(' ')).toString('base64url');
}

/** The parsed position; undefined if the text is not a position of this store. */
export function tryPosition(text: string, storeId: string, shards: number): FeedPosition | undefined {
  const [version, store, ...places] = Buffer.from(text, 'base64url').toString().split(' ');
  if (version !== VERSION || store !== storeId || places.length !== shards) return undefined;
  const position: ShardPlace[] = [];
  for (const place of places) {
    const [, epoch, sequence, checksum = '', items = '0'] = PLACE.exec(place) ?? [];
    if (epoch === undefined || sequence === undefined) return undefined;
    const lsn = { epoch: Number(epoch), sequence: Number(sequence) };
    const sum = Number.parseInt(checksum, CHECKSUM_RADIX);
    if (lsn.epoch > EPOCH_MAX || lsn.sequence > SEQUENCE_MAX || sum > CHECKSUM_MAX) return undefined;
    position.push({ lsn, checksum: sum, items: Number(items) });
  }
  return position;
}

/** A position that has the newer of the two places in each shard. */
export function newerOf(a: FeedPosition, b: FeedPosition): FeedPosition {
  return a.map((place, shard) => {
    const other = b[shard] ?? place;
    const ahead = other.lsn.sequence - place.lsn.sequence || other.items - place.items;
    return ahead > 0 ? other : place;
  });
}

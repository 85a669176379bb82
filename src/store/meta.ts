import { CURRENCY } from '../base/currency.js';
import { HASH_NAME } from '../base/hash.js';
import type { Timeline } from '../ports/timeline.js';
import type { Scales } from '../wallet/amount.js';
import { FormatError, UnknownFormatError } from './format/format-error.js';

/**
 * Parameters that are fixed when a store is created. A later change would move players to different shards or multiply
 * every balance, so walletd refuses to start with a different configuration.
 */
export interface StoreMeta {
  /** The id of the store, a UUID. */
  readonly storeId: string;
  readonly formatVersion: number;
  readonly shards: number;
  readonly hash: string;
  readonly scales: Scales;
  readonly createdMs: number;
  /**
   * Result of cancelling an unknown tip if no setting decides it. Absent in stores that predate placeTips, which means
   * `credit`.
   */
  readonly unknownTips?: 'credit' | 'reject';
  /**
   * The version of the decisions that applies if no setting chooses one (src/node/settings/rules.ts). Absent in stores
   * that predate version 2, which means 1.
   */
  readonly decisions?: number;
  /**
   * The id (a UUID) of the archive that holds the store's closed rounds. Absent until walletd first starts with an
   * archive.
   */
  readonly archiveId?: string;
  /** Ids of the stores that `restore --shards` made this store from, oldest first. Absent in every other store. */
  readonly restoredFrom?: readonly string[];
  /** By former store and shard: LSN and checksum of the newest restored entry, such as `3-1042:9b1deb4d`. */
  readonly restoredUpTo?: Readonly<Record<string, readonly string[]>>;
  /** The restores that the store comes from, oldest first. Absent in a store that was never restored. */
  readonly timelines?: readonly Timeline[];
  /**
   * True while a restore is writing the store, or after it was interrupted. Meanwhile, nothing else may use the store.
   */
  readonly incomplete?: true;
}

export const META_VERSION = 1;
/** Defaults of a store that this version creates. */
export const UNKNOWN_TIPS_OF_TODAY = 'reject';
export const DECISIONS_OF_TODAY = 2;

export function encodeMeta(meta: StoreMeta): Buffer {
  return Buffer.from(JSON.stringify(meta));
}

/** Meta record of a new store that is restored from the store with the record `meta`. */
export function restoredMeta(meta: StoreMeta, made: Pick<StoreMeta, 'storeId' | 'createdMs' | 'shards'>): StoreMeta {
  const { timelines: _ofOtherLogs, ...rest } = meta;
  return { ...rest, ...made, restoredFrom: [...(meta.restoredFrom ?? []), meta.storeId] };
}

/** The copy of the record that names this archive, or none. */
export function withArchive<M extends StoreMeta>(meta: M, archiveId: string | undefined): M {
  const { archiveId: _before, ...rest } = meta;
  return (archiveId === undefined ? rest : { ...rest, archiveId }) as M;
}

/**
 * Decodes a meta record. Throws a `FormatError` if the record is damaged, newer than this walletd, or from an
 * incomplete store.
 */
export function decodeMeta(bytes: Buffer): StoreMeta {
  const meta = decodeAnyMeta(bytes);
  if (meta.incomplete) {
    throw new FormatError('the restore of this store was not finished: empty it and restore again');
  }
  return meta;
}

/** Like `decodeMeta`, but accepts a store that is being restored. */
export function decodeAnyMeta(bytes: Buffer): StoreMeta {
  let meta: StoreMeta;
  try {
    meta = JSON.parse(bytes.toString()) as StoreMeta;
  } catch {
    throw new FormatError('the meta record of the store is damaged: it is not JSON');
  }
  const { formatVersion, decisions = 1 } = meta;
  if (formatVersion > META_VERSION) throw new UnknownFormatError('the store', `format ${formatVersion}`);
  if (formatVersion !== META_VERSION) {
    throw new FormatError(`the meta record of the store is damaged: its format is ${formatVersion}`);
  }
  if (decisions > DECISIONS_OF_TODAY) throw new UnknownFormatError('the store', `decisions ${decisions}`);
  return meta;
}

export function differences(meta: StoreMeta, wanted: Pick<StoreMeta, 'shards' | 'scales'>): string[] {
  const found: string[] = [];
  if (meta.shards !== wanted.shards) {
    found.push(
      `shards is ${wanted.shards}, but the store was created with ${meta.shards}: set WALLETD_SHARDS=${meta.shards}`,
    );
  }
  if (meta.hash !== HASH_NAME)
    found.push(`the store assigns players to shards by ${meta.hash}, this walletd by ${HASH_NAME}`);
  if (meta.scales.default !== wanted.scales.default) {
    found.push(
      `money.scale is ${wanted.scales.default}, but the store was created with ${meta.scales.default}: set WALLETD_MONEY_SCALE=${meta.scales.default}`,
    );
  }
  const currencies = new Set([...Object.keys(meta.scales.byCurrency), ...Object.keys(wanted.scales.byCurrency)]);
  for (const currency of currencies) {
    // An older walletd accepted any key in `scales`. Ignore keys that are not currencies, because they affect no
    // player.
    if (!CURRENCY.test(currency)) continue;
    const then = meta.scales.byCurrency[currency] ?? 'not listed';
    const now = wanted.scales.byCurrency[currency] ?? 'not listed';
    if (then !== now) found.push(`money.scales.${currency} is ${now}, but the store was created with ${then}`);
  }
  return found;
}

import { CURRENCY } from '../base/currency.js';
import { HASH_NAME } from '../base/hash.js';
import type { Scales } from '../wallet/amount.js';
import { FormatError } from './format/format-error.js';

/**
 * Parameters that a store was created with, written once. A different value later would put players into other shards
 * or multiply every balance, so a configuration that differs stops the start.
 */
export interface StoreMeta {
  /** UUID. */
  readonly storeId: string;
  readonly formatVersion: number;
  readonly shards: number;
  readonly hash: string;
  readonly scales: Scales;
  readonly createdMs: number;
  /** Effect of the cancel of an unknown tip if no setting decides; absent in stores from before placeTips: `credit`. */
  readonly unknownTips?: 'credit' | 'reject';
  /**
   * Version of the decisions that apply if no setting decides (src/node/rules.ts); absent in stores from before there
   * were two: 1.
   */
  readonly decisions?: number;
  /** Id of the archive that holds the store's closed rounds, a UUID; absent before the first start with an archive. */
  readonly archiveId?: string;
  /** Ids of the stores that `restore --shards` made this one from, the first one first; absent in every other store. */
  readonly restoredFrom?: readonly string[];
  /** By former store and shard: LSN and checksum of the newest restored entry, `3-1042:9b1deb4d`. */
  readonly restoredUpTo?: Readonly<Record<string, readonly string[]>>;
  /** A restore is writing the store, or was interrupted: nothing else may use it. */
  readonly incomplete?: true;
}

export const META_VERSION = 1;
/** Defaults of a store that is created now. */
export const UNKNOWN_TIPS_OF_TODAY = 'reject';
export const DECISIONS_OF_TODAY = 2;

export function encodeMeta(meta: StoreMeta): Buffer {
  return Buffer.from(JSON.stringify(meta));
}

/** The meta record of a new store that is restored from the store with this record. */
export function restoredMeta(meta: StoreMeta, made: Pick<StoreMeta, 'storeId' | 'createdMs' | 'shards'>): StoreMeta {
  return { ...meta, ...made, restoredFrom: [...(meta.restoredFrom ?? []), meta.storeId] };
}

/** The same record with another archive, or with none. */
export function withArchive<M extends StoreMeta>(meta: M, archiveId: string | undefined): M {
  const { archiveId: _before, ...rest } = meta;
  return (archiveId === undefined ? rest : { ...rest, archiveId }) as M;
}

/** Throws a `FormatError` when the record is damaged, newer than this walletd, or of an incomplete store. */
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
  if (meta.formatVersion !== META_VERSION) {
    throw new FormatError(`the store has format version ${meta.formatVersion}; this walletd knows ${META_VERSION}`);
  }
  return meta;
}

/** One sentence per setting that differs from the store's creation. */
export function differences(meta: StoreMeta, wanted: Pick<StoreMeta, 'shards' | 'scales'>): string[] {
  const found: string[] = [];
  if (meta.shards !== wanted.shards) {
    found.push(
      `shards is ${wanted.shards}, but the store was created with ${meta.shards}: set WALLETD_SHARDS=${meta.shards}`,
    );
  }
  if (meta.hash !== HASH_NAME) found.push(`the store places players by ${meta.hash}, this walletd by ${HASH_NAME}`);
  if (meta.scales.default !== wanted.scales.default) {
    found.push(
      `money.scale is ${wanted.scales.default}, but the store was created with ${meta.scales.default}: set WALLETD_MONEY_SCALE=${meta.scales.default}`,
    );
  }
  const currencies = new Set([...Object.keys(meta.scales.byCurrency), ...Object.keys(wanted.scales.byCurrency)]);
  for (const currency of currencies) {
    // An older walletd accepted any key; no player can have one that is not a currency.
    if (!CURRENCY.test(currency)) continue;
    const then = meta.scales.byCurrency[currency] ?? 'not listed';
    const now = wanted.scales.byCurrency[currency] ?? 'not listed';
    if (then !== now) found.push(`money.scales.${currency} is ${now}, but the store was created with ${then}`);
  }
  return found;
}

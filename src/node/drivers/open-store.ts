import { randomUUID } from 'node:crypto';
import { HASH_NAME } from '../../base/hash.js';
import { ConfigError } from '../../config/config-error.js';
import type { Settings } from '../../config/schema.js';
import { findKindSettings } from '../../config/store-kinds.js';
import type { Archive } from '../../ports/archive.js';
import { formatLsn } from '../../ports/lsn.js';
import {
  DECISIONS_OF_TODAY,
  differences,
  META_VERSION,
  type StoreMeta,
  UNKNOWN_TIPS_OF_TODAY,
} from '../../store/meta.js';
import { NodeRecord } from '../../store/node-record.js';
import type { Store } from '../../store/store.js';
import type { Driver, StoreSettings } from './driver.js';
import { driverOf } from './drivers.js';
import { type ArchiveUse, openArchiveToRead } from './open-archive.js';
import { asStoreError, NoStoreError, StoreError } from './store-error.js';
import { tieOf } from './tie-archive.js';

/**
 * Settings that are fixed when a store is created. They must not differ from those with which an existing store was
 * created.
 */
export type NewStoreSettings = Pick<Settings, 'shards' | 'money'>;

export interface ExistingStore extends Pick<Driver, 'name' | 'durability'> {
  readonly store: Store;
  readonly meta: StoreMeta;
}

/** A store that matches the settings and can be used. */
export interface OpenStore extends ExistingStore {
  readonly wasCreated: boolean;
}

/**
 * Opens the configured store, or creates an empty one when `init` allows it. Refuses a store that was created with a
 * different shard count or different scales, because both determine how its logs are read.
 */
export async function openStore(
  settings: StoreSettings & NewStoreSettings,
  init: 'auto' | 'never',
  record?: NodeRecord,
): Promise<OpenStore> {
  const { name, durability, store } = await opened(settings, init, record);
  try {
    let wasCreated = false;
    const found = await store.meta.tryRead();
    if (record !== undefined) checkRecord(record, found, name);
    if (found === undefined) {
      if (init === 'never') throw new NoStoreError(name);
      wasCreated = await store.meta.create(newMeta(settings));
    }
    const meta = await store.meta.tryRead();
    if (meta === undefined) throw new StoreError(`${name} could not be created`);
    record?.addOtherAddresses(meta.storeId);
    const [difference] = differences(meta, metaSettings(settings));
    if (difference !== undefined) throw new ConfigError(`${difference} (store ${name})`);
    return { store, name, durability, meta, wasCreated };
  } catch (error) {
    await store.close();
    throw asStoreError(error as Error, name);
  }
}

/** A store with its archive, if it has one. */
export interface ArchivedStore extends ExistingStore {
  readonly archive: Archive | undefined;
}

/**
 * Opens a store with the shard count and scales with which it was created, regardless of the settings. Refuses an empty
 * store. Only `repair` and `look` accept an archive that differs from the one in the store's record.
 */
export async function openExisting(
  settings: StoreSettings,
  use: ArchiveUse | 'look' = 'write',
): Promise<ArchivedStore> {
  const driver = driverOf(settings);
  const { name, durability } = driver;
  const archiveUse = use === 'look' ? 'examine' : use;
  const store = await (archiveUse === 'read' || archiveUse === 'examine' ? driver.openToRead() : driver.open('never'));
  try {
    const meta = await store.meta.tryRead();
    if (meta === undefined) throw new NoStoreError(name);
    const tie = use === 'repair' || use === 'look' ? undefined : tieOf(settings, meta);
    const archive = await openArchiveToRead(settings, meta.storeId, { use: archiveUse, tie });
    return { store, name, durability, meta, archive };
  } catch (error) {
    await store.close();
    throw asStoreError(error as Error, name);
  }
}

/** This node's record of the entries that it has acknowledged in the configured store. */
export function recordOf(settings: StoreSettings & Pick<Settings, 'nodeFolder'>): NodeRecord {
  return NodeRecord.open(settings.nodeFolder, driverOf(settings).recordName);
}

/** Whether to create a store if there is none: according to the setting, or else the default for this kind of store. */
export function initOf({ store, init }: Pick<Settings, 'store' | 'init'>): 'auto' | 'never' {
  return init ?? findKindSettings(store)?.init ?? 'never';
}

async function opened(
  settings: StoreSettings,
  init: 'auto' | 'never',
  record: NodeRecord | undefined,
): Promise<Pick<ExistingStore, 'name' | 'durability' | 'store'>> {
  const { name, durability, open } = driverOf(settings);
  try {
    return { name, durability, store: await open(init) };
  } catch (error) {
    if (error instanceof NoStoreError && record !== undefined) checkRecord(record, undefined, name);
    throw error;
  }
}

/** Advice for the case that a node or server remembers a store that no longer exists. */
export const RESTORE_ADVICE =
  'bring that store back: docs/runbook.md, night 1 if a walletd that has served it is still running, otherwise night 2';

/**
 * Refuses a store that contradicts the node's record. With an empty store in place of the previous one, all players
 * would be missing. With a store that was restored from an outdated copy, repeats would be processed as new messages.
 */
export function checkRecord(record: NodeRecord, found: StoreMeta | undefined, name: string): void {
  checkFormer(record, found, name);
  const { storeId } = record;
  if (storeId === undefined || found?.storeId === storeId) return;
  const what = found === undefined ? 'there is no store' : `there is a different store, ${found.storeId},`;
  throw new StoreError(
    `${what} at ${name}, where this node has served ${storeId}: ${RESTORE_ADVICE}; ` +
      'as a last resort, `walletd accept-loss` asks whether to continue without it',
  );
}

function checkFormer(record: NodeRecord, found: StoreMeta | undefined, name: string): void {
  for (const [former, ends] of Object.entries(found?.restoredUpTo ?? {})) {
    const [first, ...others] = record.findLacking(former, ends);
    if (first === undefined) continue;
    const { shard, end, acknowledged } = first;
    const more = others.length === 0 ? '' : `, and ${others.length} more of its shards lack entries`;
    throw new StoreError(
      `the store at ${name} was made from ${former} up to ${formatLsn(end.lsn)} of its shard ${shard}, but this node has ` +
        `acknowledged ${formatLsn(acknowledged.lsn)} there${more}: restore again from a copy that has these entries; ` +
        'as a last resort, `walletd accept-loss` asks whether to continue without it',
    );
  }
}

function newMeta(settings: NewStoreSettings): StoreMeta {
  return {
    storeId: randomUUID(),
    formatVersion: META_VERSION,
    hash: HASH_NAME,
    createdMs: Date.now(),
    unknownTips: UNKNOWN_TIPS_OF_TODAY,
    decisions: DECISIONS_OF_TODAY,
    ...metaSettings(settings),
  };
}

function metaSettings({ shards, money }: NewStoreSettings): Pick<StoreMeta, 'shards' | 'scales'> {
  return { shards, scales: { default: money.scale, byCurrency: money.scales } };
}

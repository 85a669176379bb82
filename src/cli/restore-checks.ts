import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf } from '../base/message-of.js';
import { findStoreKind } from '../config/store-kinds.js';
import { findArchive, postgresOccupancy } from '../node/boot/examine-archive.js';
import { findArchiveAddress } from '../node/drivers/archive-address.js';
import type { Driver, StoreSettings } from '../node/drivers/driver.js';
import { folderOf } from '../node/drivers/lmdb-driver.js';
import { hasArchive, openArchiveToRead } from '../node/drivers/open-archive.js';
import { StoreError } from '../node/drivers/store-error.js';
import { LSN_ZERO } from '../ports/lsn.js';
import { mayBeEmptied, type Target } from './target-place.js';

/*
 * Checks of the restore target. `restore` and `restore --dry-run` run the same checks in this order, and nothing is
 * written before the last one:
 *
 *   the place has no event ─> no remains of a store emptied by hand ─> rights ─> the archive is empty and usable
 */

/** The store to restore. */
export interface RestoredSource {
  /** Undefined if the new store gets its own id. */
  readonly storeId: string | undefined;
  readonly shards: number;
  /** Resolves to true if the source contains rounds that require an archive. */
  readonly hasArchived: () => Promise<boolean>;
}

/**
 * Throws a `StoreError` with the reason, and writes nothing. `isServed` means that a server may be using the place or
 * its archive.
 */
export async function checkTarget(
  target: Target,
  settings: StoreSettings,
  driver: Driver,
  source: RestoredSource,
  isServed: boolean,
): Promise<void> {
  const { store, found } = target;
  if (found !== undefined && !found.hasEvents) await checkMayBeRemoved(target, driver);
  if (store === undefined) await checkFolder(settings);
  else {
    await checkNothingIsLeft(target, source.shards);
    await checkRights(target, driver);
  }
  await checkArchive(target, settings, source, isServed);
}

/**
 * Throws a `StoreError` if the store in the place contains an event. `warn` explains how to empty the place, unless a
 * server may be using it.
 */
export function checkHasNoEvent(
  { found }: Target,
  { name, emptying }: Driver,
  isServed: boolean,
  warn: (sentence: string) => void,
): void {
  if (found === undefined || !found.hasEvents) return;
  const what = `there is already a store at ${name}, ${found.meta.storeId}`;
  if (isServed)
    throw new StoreError(`${what}, and a server may be using it: never empty it: choose a different target`);
  warn(mayBeEmptied(name, emptying));
  throw new StoreError(`${what}: a restore requires an empty target`);
}

async function checkMayBeRemoved({ store, found }: Target, { name, emptying }: Driver): Promise<void> {
  if (store === undefined || found === undefined) return;
  await store.meta.checkDiscard(found.meta.shards).catch((error: Error) => {
    throw new StoreError(
      `the store at ${name} has no events, but this user may not remove it: restore as a user who may (restorer in ` +
        `config/users.acl), or ${emptying} (${error.message})`,
    );
  });
}

/**
 * Throws if the place has remains of a store that was emptied by hand, because the restored store would include them.
 */
async function checkNothingIsLeft({ store, found }: Target, shards: number): Promise<void> {
  if (store === undefined) return;
  for (let shard = found?.meta.shards ?? 0; shard < shards; shard++) {
    const isEmpty =
      (await store.wal.read(shard, LSN_ZERO, 1)).length === 0 && (await store.snapshots.snapshots(shard)).length === 0;
    if (isEmpty) continue;
    throw new StoreError(
      `a restore requires an empty store, and this one still has data of shard ${shard}: empty it completely`,
    );
  }
}

async function checkRights({ store }: Target, { name }: Driver): Promise<void> {
  const findings = (await store?.examine()) ?? [];
  const bad = findings.find(({ about, verdict }) => verdict === 'bad' && /^(rights|durability)/.test(about));
  if (bad !== undefined) throw new StoreError(`cannot use the store ${name}: ${bad.says}; ${bad.todo}`);
}

/** Checks the folder in which an embedded store would be created. */
async function checkFolder({ store }: StoreSettings): Promise<void> {
  if (findStoreKind(store) !== 'lmdb') return;
  let folder = folderOf(store);
  for (;;) {
    const found = await stat(folder).catch(() => undefined);
    if (found?.isDirectory()) break;
    if (found !== undefined) throw new StoreError(`cannot use the store ${store}: ${folder} is not a folder`);
    folder = dirname(folder);
  }
  await access(folder, constants.W_OK | constants.X_OK).catch(() => {
    throw new StoreError(`cannot use the store ${store}: ${folder} is not writable`);
  });
}

async function checkArchive(
  target: Target,
  settings: StoreSettings,
  source: RestoredSource,
  isServed: boolean,
): Promise<void> {
  if (!hasArchive(settings)) {
    if (!(await source.hasArchived())) return;
    throw new StoreError(
      'closed rounds of this store are in an archive, but the new store has no archive: set WALLETD_ARCHIVE to an empty database',
    );
  }
  if (settings.archive === null) await checkFolderOfArchive(settings, target.found?.meta.storeId ?? source.storeId);
  else await checkPostgres(settings, source, isServed);
}

/**
 * Throws if the archive next to the embedded store has rounds. `storeId` is the id of the store in the place, or
 * otherwise of the source.
 */
async function checkFolderOfArchive(settings: StoreSettings, storeId: string | undefined): Promise<void> {
  const archive = await openArchiveToRead(settings, storeId ?? '');
  if (archive === undefined) return;
  const days = await archive.days().finally(() => archive.close());
  if (days.length > 0) throw new StoreError('a restore also requires an empty archive: choose a different target');
}

async function checkPostgres(settings: StoreSettings, { storeId }: RestoredSource, isServed: boolean): Promise<void> {
  const name = findArchiveAddress(settings)?.name;
  const { hasRounds, sessions } = await postgresOccupancy(settings).catch((error: unknown) => {
    throw new StoreError(`cannot use the archive ${name}: ${messageOf(error)}`, { cause: error });
  });
  if (hasRounds) {
    const cure =
      isServed || sessions > 0
        ? 'a server may be using it: never empty it: set WALLETD_ARCHIVE to a new database, for this restore only'
        : "set WALLETD_ARCHIVE to a new database, for restore, serve and the backup's follower alike";
    throw new StoreError(`a restore requires an empty archive, and ${name} has rounds; ${cure}; see docs/runbook.md`);
  }
  const found = await findArchive(settings, storeId === undefined ? undefined : { storeId });
  if (found?.away !== undefined) throw new StoreError(`cannot use the archive ${name}: ${found.away}`);
}

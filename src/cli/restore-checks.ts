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

/** Store to restore. */
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
  const what = `there is a store at ${name} already, ${found.meta.storeId}`;
  if (isServed) throw new StoreError(`${what}, and a server may be living on it: never empty it: name a new place`);
  warn(mayBeEmptied(name, emptying));
  throw new StoreError(`${what}: a restore needs an empty place`);
}

async function checkMayBeRemoved({ store, found }: Target, { name, emptying }: Driver): Promise<void> {
  if (store === undefined || found === undefined) return;
  await store.meta.checkDiscard(found.meta.shards).catch((error: Error) => {
    throw new StoreError(
      `the store at ${name} has no event, and this user may not remove it: restore as one who may (restorer in ` +
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
      `a restore needs an empty store, and this one still has data of shard ${shard}: empty it completely`,
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
    if (found !== undefined) throw new StoreError(`cannot use the store ${store}: ${folder} is no folder`);
    folder = dirname(folder);
  }
  await access(folder, constants.W_OK | constants.X_OK).catch(() => {
    throw new StoreError(`cannot use the store ${store}: nothing can be written into ${folder}`);
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
      'closed rounds of this store are in an archive, and the new one has none: name an empty database in WALLETD_ARCHIVE',
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
  if (days.length > 0) throw new StoreError('a restore needs an empty archive, too: name another place');
}

async function checkPostgres(settings: StoreSettings, { storeId }: RestoredSource, isServed: boolean): Promise<void> {
  const name = findArchiveAddress(settings)?.name;
  const { hasRounds, sessions } = await postgresOccupancy(settings).catch((error: unknown) => {
    throw new StoreError(`cannot use the archive ${name}: ${messageOf(error)}`, { cause: error });
  });
  if (hasRounds) {
    const cure =
      isServed || sessions > 0
        ? 'a server may be living on it: never empty it: name a new database in WALLETD_ARCHIVE, for this restore alone'
        : 'name a new database in WALLETD_ARCHIVE, for restore, serve and the follower of the backup alike';
    throw new StoreError(`a restore needs an empty archive, and ${name} has rounds; ${cure}; see docs/runbook.md`);
  }
  const found = await findArchive(settings, storeId === undefined ? undefined : { storeId });
  if (found?.away !== undefined) throw new StoreError(`cannot use the archive ${name}: ${found.away}`);
}

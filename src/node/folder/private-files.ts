import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../base/logger.js';
import { messageOf } from '../../base/message-of.js';

const OTHERS = 0o077;
const STORE_ENTRY = /^(data\.mdb|lock\.mdb|archive)$/;
const NODE_ENTRY = /^(node\.pid$|(acknowledged|run|time|archive-names|orphans|lost)-)/;

/**
 * Removes group and other permissions from the store's files and the node's folder, which contain player names and
 * balances. Earlier releases created these files with the default umask; the process now sets its own umask. In a
 * folder that also holds unrelated files, the folder and those files keep their modes.
 */
export function keepPrivate(storeFolder: string | undefined, nodeFolder: string, log: Logger): void {
  let repaired: string[];
  try {
    const stored = storeFolder === undefined ? [] : ownPaths(storeFolder, STORE_ENTRY);
    repaired = [...ownPaths(nodeFolder, NODE_ENTRY), ...stored].filter(isOpenToOthers);
    for (const path of repaired) chmodSync(path, statSync(path).mode & 0o777 & ~OTHERS);
  } catch (error) {
    // If the folder cannot be used, opening it later fails with a more specific error.
    log.warn({ code: 'files-not-private', error: messageOf(error) }, 'cannot restrict the permissions of store files');
    return;
  }
  if (repaired.length > 0)
    log.info({ paths: repaired.length, first: repaired[0] }, 'file permissions restricted to this user');
}

/**
 * The entries of a folder that walletd has created, with everything below them. The folder itself is included if it has
 * no other entries.
 */
function ownPaths(folder: string, ownEntry: RegExp): string[] {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return [];
  const entries = readdirSync(folder);
  const own = entries.filter((entry) => ownEntry.test(entry));
  const isOwn = own.length > 0 && own.length === entries.length;
  return [...(isOwn ? [folder] : []), ...own.flatMap((entry) => treeOf(join(folder, entry)))];
}

/** This path and, if it is a folder, everything below it. */
function treeOf(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isDirectory()) return [path];
  return [path, ...readdirSync(path).flatMap((entry) => treeOf(join(path, entry)))];
}

function isOpenToOthers(path: string): boolean {
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & OTHERS) !== 0;
}

import { chmodSync, existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../base/logger.js';
import { messageOf } from '../base/message-of.js';

const OTHERS = 0o077;
/** Entries of an LMDB store's folder. One that has others, too, keeps its mode: somebody else may need to look into it. */
const STORE_ENTRIES = ['data.mdb', 'lock.mdb', 'archive'];

/**
 * Takes the rights of group and others away from the files of the store and of the node's folder, which earlier releases made as the
 * umask had it: balances and names of players are in them. New files get their modes from the umask of the process.
 */
export function keepPrivate(storeFolder: string | undefined, nodeFolder: string, log: Logger): void {
  let repaired: string[];
  try {
    const paths = [...treeOf(nodeFolder), ...(storeFolder === undefined ? [] : storePaths(storeFolder))];
    repaired = paths.filter((path) => isOpenToOthers(path));
    for (const path of repaired) chmodSync(path, statSync(path).mode & 0o777 & ~OTHERS);
  } catch (error) {
    // A folder that cannot be used at all is refused where it is opened, with a sentence of its own.
    log.warn({ code: 'files-not-private', error: messageOf(error) }, 'files of the store cannot be made private');
    return;
  }
  if (repaired.length > 0) log.info({ paths: repaired.length, first: repaired[0] }, 'files made private to this user');
}

function storePaths(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder);
  const own = entries.filter((entry) => STORE_ENTRIES.includes(entry)).flatMap((entry) => treeOf(join(folder, entry)));
  return own.length > 0 && entries.every((entry) => STORE_ENTRIES.includes(entry)) ? [folder, ...own] : own;
}

/** The path and, of a folder, all below it. */
function treeOf(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isDirectory()) return [path];
  return [path, ...readdirSync(path).flatMap((entry) => treeOf(join(path, entry)))];
}

function isOpenToOthers(path: string): boolean {
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & OTHERS) !== 0;
}

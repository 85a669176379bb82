import { hostname } from 'node:os';
import { describeOwner, ownerOf } from '../log/take-over.js';
import { formatsOf } from '../store/format/store-formats.js';
import { ToolError } from '../tools/store-reader.js';
import { findRunningServer } from './running-server.js';
import { isAlive } from './stopped-store.js';
import { settingsToRead } from './store-address.js';
import type { Target } from './target-place.js';

/**
 * Returns sentences about servers that may be serving the store to restore, or the store in the place. Checks the
 * configured server, whatever store it serves, and the owner that the log in the place names. A server on another
 * machine cannot be detected if its Redis has been emptied.
 */
export async function whoServes(storeId: string | undefined, { store, found }: Target): Promise<string[]> {
  const ids = [...new Set([storeId, found?.meta.storeId])].filter((id) => id !== undefined);
  const sentences = await answering(ids);
  if (store === undefined || found === undefined) return sentences;
  const { format } = formatsOf(found.meta);
  const owners = new Map<string, string>();
  for (const [shard, head] of found.heads.entries()) {
    if (head.lsn.sequence === 0) continue;
    const owner = await ownerOf(shard, head, { wal: store.wal, format });
    if (owner === undefined || owner.pid === process.pid) continue;
    const name = describeOwner(owner);
    if (owner.host !== hostname()) owners.set(name, `the last owner of the target is ${name}: has it stopped?`);
    else if (isAlive(owner)) owners.set(name, `the target is owned by ${name}, and a process with this id is running`);
  }
  return [...sentences, ...owners.values()];
}

/** Checks whether the configured server serves one of these stores. */
async function answering(storeIds: readonly string[]): Promise<string[]> {
  try {
    const settings = settingsToRead(undefined);
    for (const storeId of storeIds) {
      const server = await findRunningServer(settings, storeId);
      if (server !== undefined) {
        return [
          `the server at ${server.url} serves store ${storeId}: the restored store will lack the callbacks that it answers from now on, ` +
            'unless it uses this target and appends its newest entries again',
        ];
      }
    }
    return [];
  } catch (error) {
    return error instanceof ToolError ? [`${error.message}: does it serve this store?`] : [];
  }
}

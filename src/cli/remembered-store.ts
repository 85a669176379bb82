import { ConfigError } from '../config/config-error.js';
import { withoutCredentials } from '../config/in-force.js';
import type { Settings } from '../config/schema.js';
import { driverOf } from '../node/drivers/drivers.js';
import { recordOf } from '../node/drivers/open-store.js';
import { livingMembers } from '../node/jobs/living-members.js';
import type { Store } from '../store/store.js';
import { ToolError } from '../tools/store-reader.js';
import type { OperatorApi } from '../tools/verify/operator-api.js';
import { answeringServer } from './running-server.js';

/**
 * Returns a sentence about a node or server that remembers a different store at the configured address, or remembers
 * one where none exists; undefined if there is no such node or server. Checks the node's folder, the live cluster
 * members, and the configured server. A new store there would have no players, while the server still holds all of them
 * in memory.
 */
export async function findRemembered(
  settings: Settings,
  found: string | undefined,
  store: Pick<Store, 'table'> | undefined,
): Promise<string | undefined> {
  const { storeId } = recordOf(settings);
  if (storeId !== undefined && storeId !== found) return `this node has served ${storeId} there`;
  if (found !== undefined) return undefined;
  const members = await livingMembers(store?.table, () => true);
  if (members.length > 0) return `${members.map(({ name }) => name).join(', ')} are running on that store`;
  const server = await findServerOf(settings);
  return server && `the walletd at ${server.url} is running on that store`;
}

/** The configured server, if it uses the configured store. */
export async function findServerOf(settings: Settings): Promise<OperatorApi | undefined> {
  try {
    const api = await answeringServer(settings);
    const running = await api?.settings();
    if (api === undefined || running === undefined) return undefined;
    const store = withoutCredentials(String(running.get('store')));
    const its = driverOf({ ...settings, store, storePrefix: String(running.get('storePrefix')) });
    return its.recordName === driverOf(settings).recordName ? api : undefined;
  } catch (error) {
    // Either a different program listens there, or a walletd with different kinds of stores, or the token is wrong.
    // None of these cases reveals a store.
    if (error instanceof ToolError || error instanceof ConfigError) return undefined;
    throw error;
  }
}

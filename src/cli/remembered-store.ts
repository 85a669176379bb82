import { ConfigError } from '../config/config-error.js';
import { withoutCredentials } from '../config/in-force.js';
import type { Settings } from '../config/schema.js';
import { driverOf } from '../node/drivers/drivers.js';
import { livingMembers } from '../node/living-members.js';
import { recordOf } from '../node/open-store.js';
import type { Store } from '../store/store.js';
import { ToolError } from '../tools/store-reader.js';
import type { OperatorApi } from '../tools/verify/operator-api.js';
import { answeringServer } from './running-server.js';

/**
 * Returns a sentence about a node or server that remembers a different store at the address of the settings, or one
 * where none exists. Looks at the folder of the node, living members of a cluster, and the server of the settings;
 * undefined if none of them does. A new store there would be a casino without players, beneath a server that has all of
 * them in memory.
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
  if (members.length > 0) return `${members.map(({ name }) => name).join(', ')} run on it`;
  const server = await findServerOf(settings);
  return server && `the walletd at ${server.url} runs on it`;
}

/** Server of the settings, if it uses the same store as the settings. */
export async function findServerOf(settings: Settings): Promise<OperatorApi | undefined> {
  try {
    const api = await answeringServer(settings);
    const running = await api?.settings();
    if (api === undefined || running === undefined) return undefined;
    const store = withoutCredentials(String(running.get('store')));
    const its = driverOf({ ...settings, store, storePrefix: String(running.get('storePrefix')) });
    return its.recordName === driverOf(settings).recordName ? api : undefined;
  } catch (error) {
    // Another program listens there, a walletd with other kinds of stores does, or the token is wrong: nothing is
    // known.
    if (error instanceof ToolError || error instanceof ConfigError) return undefined;
    throw error;
  }
}

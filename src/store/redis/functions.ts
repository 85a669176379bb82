import type { Redis } from 'ioredis';
import { messageOf } from '../../base/message-of.js';
import { ServerRefused } from '../server-refused.js';
import { APPEND_FUNCTION_NAME, APPEND_LIBRARY } from './append-function.js';
import { CLUSTER_FUNCTION_NAME, CLUSTER_LIBRARY } from './cluster-function.js';
import { META_FUNCTION_NAME, META_LIBRARY } from './meta-function.js';
import { isFull } from './server-error.js';
import { SNAPSHOT_FUNCTION_NAME, SNAPSHOT_LIBRARY } from './snapshot-function.js';

interface RedisFunction {
  readonly name: string;
  readonly library: string;
  /** Arguments of a call that does nothing, which shows whether the function exists. */
  readonly idleArgs: readonly string[];
}

export const APPEND: RedisFunction = { name: APPEND_FUNCTION_NAME, library: APPEND_LIBRARY, idleArgs: ['each', ''] };
export const SNAPSHOT: RedisFunction = { name: SNAPSHOT_FUNCTION_NAME, library: SNAPSHOT_LIBRARY, idleArgs: [] };
export const CLUSTER: RedisFunction = { name: CLUSTER_FUNCTION_NAME, library: CLUSTER_LIBRARY, idleArgs: [''] };

export const META: RedisFunction = { name: META_FUNCTION_NAME, library: META_LIBRARY, idleArgs: [] };

/** Loads all missing functions, so that a user without FUNCTION LOAD finds them after `walletd init`. */
export async function ensureFunctions(client: Redis): Promise<void> {
  for (const wanted of [APPEND, SNAPSHOT, CLUSTER, META]) await ensureFunction(client, wanted);
}

/** Loads the function if it is missing, as after a failover or on a new server. Requires a user with FUNCTION LOAD. */
export async function ensureFunction(client: Redis, wanted: RedisFunction): Promise<void> {
  if (await hasFunction(client, wanted)) return;
  try {
    await client.call('FUNCTION', 'LOAD', wanted.library);
  } catch (error) {
    if (await hasFunction(client, wanted)) return;
    if (isFull(error as Error)) throw error;
    throw new ServerRefused(
      `Redis lacks the function ${wanted.name}, and walletd may not load it (${messageOf(error)}): ` +
        'run `walletd init` once as a user who may call FUNCTION LOAD (initiator in config/users.acl), ' +
        'or restore as restorer',
    );
  }
}

async function hasFunction(client: Redis, { name, idleArgs }: RedisFunction): Promise<boolean> {
  try {
    await client.call('FCALL', name, 0, ...idleArgs);
    return true;
  } catch (error) {
    if (/Function not found/.test(messageOf(error))) return false;
    // If a server that is out of memory refuses to run the function, the function exists. Read-only commands still
    // work.
    if (isFull(error as Error)) return true;
    throw error;
  }
}

/** Calls the function. If it is missing, loads it first. */
export async function withFunction<T>(
  client: Redis,
  wanted: RedisFunction,
  send: (client: Redis) => Promise<T>,
): Promise<T> {
  try {
    return await send(client);
  } catch (error) {
    if (!/Function not found/.test(messageOf(error))) throw error;
    await ensureFunction(client, wanted);
    return await send(client);
  }
}

import type { Settings } from '../../config/schema.js';

/**
 * Settings that a thread with shards receives. They are sent to workers, so the list omits everything that only
 * listeners need. Operator tokens, signature keys and TLS keys therefore stay in the main thread. The store's password
 * is sent as part of `store`, because each worker opens a connection of its own.
 */
const NAMES = [
  // The store, and this node's own files.
  'store',
  'storePrefix',
  'archive',
  'durability',
  'redis',
  'postgres',
  'nodeFolder',
  // Callbacks.
  'callbacks',
  'money',
  'txnsMax',
  'requestDeadlineMs',
  'statusCodes',
  // Decisions.
  'decisions',
  'duplicates',
  'round',
  'void',
  'rollback',
  'tips',
  'adjustBalance',
  'products',
  'sessionToken',
  'tombstonesMax',
  'openBetsMax',
  'historyMax',
  'retention',
  'clock',
  // Snapshots.
  'snapshots',
  'history',
  'feed',
  // Limits and log.
  'memory',
  'limits',
  'log',
  'rehearsalMaxMs',
] as const satisfies readonly (keyof Settings)[];

export type ShardSettings = Pick<Settings, (typeof NAMES)[number]>;

export function shardSettingsOf(settings: Settings): ShardSettings {
  return Object.fromEntries(NAMES.map((name) => [name, settings[name]])) as ShardSettings;
}

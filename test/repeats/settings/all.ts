import { LMDB_SETTINGS } from './lmdb.js';
import { REDIS_SETTINGS } from './redis.js';
import type { Setting } from './setting.js';

/** All settings, cheapest first. */
export const SETTINGS: readonly Setting[] = [...LMDB_SETTINGS, ...REDIS_SETTINGS];

export function mustSetting(name: string): Setting {
  const setting = SETTINGS.find((one) => one.name === name);
  if (setting === undefined) throw new Error(`there is no setting ${name}`);
  return setting;
}

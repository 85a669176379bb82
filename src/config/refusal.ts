import type { ErrorObject } from 'ajv';
import { holdsSecret } from './secrets.js';
import { STORE_FORMS } from './store-kinds.js';
import { type Tree, valueAt } from './tree.js';

/** The source of each setting, for error messages. */
export type Sources = Map<string, string>;

/** The refusal of a durability that walletd had until 0.2.0. */
const REMOVED_PEERS =
  'durability peers:1 no longer exists: give each Redis master two replicas and set replicas:1 or synced:1, or set ' +
  'fsync for a Redis without replicas (LMDB: fsync)';

/** One sentence about the first error. Never repeats the value of a secret. */
export function sentence(error: ErrorObject | undefined, settings: Tree, sources: Sources): string {
  if (error === undefined) return 'the settings are not valid';
  const path = error.instancePath.slice(1).replaceAll('/', '.');
  if (error.keyword === 'additionalProperties') {
    const name = [path, (error.params as { additionalProperty: string }).additionalProperty].filter(Boolean).join('.');
    return `${name} is not a setting of walletd${from(name, sources)}`;
  }
  if (path === 'durability' && valueAt(settings, path) === 'peers:1') return `${REMOVED_PEERS}${from(path, sources)}`;
  const shown = holdsSecret(path) ? 'what is given' : JSON.stringify(valueAt(settings, path));
  return `${path} cannot be ${shown}${from(path, sources)}: it ${expectation(error)}`;
}

function expectation(error: ErrorObject): string {
  if (error.keyword === 'enum') {
    const values = (error.params as { allowedValues: unknown[] }).allowedValues.filter((value) => value !== null);
    return `must be one of ${values.join(', ')}`;
  }
  if (error.instancePath === '/store') return `must be ${STORE_FORMS}`;
  if (error.instancePath === '/archive') return 'must be postgres://user:password@host:port/database';
  if (/token$/.test(error.instancePath))
    return 'must have 16 or more characters that are valid in a header, without blanks';
  if (error.instancePath === '/durability') return 'must be fsync, os, replicas:N or synced:N';
  if (/tokens\/\d+\/name$/.test(error.instancePath)) return 'must have 1 to 64 characters and no control characters';
  return (error.message ?? 'is not valid').replace(/,null$/, '');
}

/** Formats the source of a setting. A value inside a table comes from the same source as the table. */
function from(path: string, sources: Sources): string {
  for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
    const source = sources.get(at);
    if (source !== undefined) return ` (from ${source})`;
  }
  return '';
}

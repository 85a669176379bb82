import { loadSettings } from '../../src/config/load.js';
import type { Settings } from '../../src/config/schema.js';

/** The default settings with some changed by path, for example `{ 'void.amounts': 'request' }`. */
export function settingsWith(changes: Readonly<Record<string, unknown>> = {}): Settings {
  // The test run chooses the HTTP library (test/http/on-node-http.long.ts).
  const { WALLETD_HTTP_LIBRARY } = process.env;
  // A rehearsal would make each start a second longer.
  const settings = loadSettings({ WALLETD_HTTP_LIBRARY, WALLETD_REHEARSAL_MAX_MS: '0' });
  for (const [path, value] of Object.entries(changes)) {
    const keys = path.split('.');
    const last = keys.pop() as string;
    const parent = keys.reduce(
      (tree, key) => tree[key] as Record<string, unknown>,
      settings as Record<string, unknown>,
    );
    parent[last] = value;
  }
  return settings;
}

import { startChild } from './child.js';
import { freePort } from './free-port.js';
import { findRedisVersion, REDIS_SERVER } from './versions.js';

/**
 * Disables rewrites of the append-only file. In production one happens every few hours, but in a bench that starts with
 * an empty file, several would happen.
 */
export const NEVER_REWRITTEN = { 'auto-aof-rewrite-percentage': '0' };
/** Settings of the server. Eviction is disabled. */
const SETTINGS: Readonly<Record<string, string>> = {
  appendonly: 'yes',
  'no-appendfsync-on-rewrite': 'no',
  ...NEVER_REWRITTEN,
  'maxmemory-policy': 'noeviction',
  save: '',
};

/** Sentence that explains why no server can run on this machine; undefined if one can. */
export function whyNoRedis(): string | undefined {
  if (findRedisVersion() !== undefined) return undefined;
  return `${REDIS_SERVER} is not on the PATH: apt-get install redis-server, or otherwise Redis 7 or later`;
}

/**
 * Starts a real Redis on a free port, with its files in `folder`, until the bench ends. Resolves to its URL. With
 * `always`, every write is on disk before it is acknowledged.
 */
export async function startRedis(folder: string, appendfsync: 'always' | 'everysec'): Promise<string> {
  const problem = whyNoRedis();
  if (problem !== undefined) throw new Error(problem);
  const port = String(await freePort());
  const settings = { bind: '127.0.0.1', port, dir: folder, appendfsync, ...SETTINGS };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  await startChild(REDIS_SERVER, args, (line) => line.includes('Ready to accept connections'));
  return `redis://127.0.0.1:${port}`;
}

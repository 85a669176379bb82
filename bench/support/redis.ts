import { mkdirSync } from 'node:fs';
import { freePort } from '../../test/support/free-port.js';
import { REDIS_SERVER, whyNoRedis } from '../../test/support/versions.js';
import { startChild } from './child.js';

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
  'repl-diskless-sync-delay': '0',
  save: '',
};

/** A replica begins a new append-only file after its copy, and confirms no fsync before that. */
const REPLICA_READY = /Background AOF rewrite finished successfully|Reused RDB file from primary sync as AOF base/;

/**
 * Starts a real Redis on a free port, with its files in `folder`, until the bench ends, and a replica if wanted. Resolves
 * to its URL. With `always`, every write is on disk before it is acknowledged.
 */
export async function startRedis(
  folder: string,
  appendfsync: 'always' | 'everysec',
  hasReplica = false,
): Promise<string> {
  const problem = whyNoRedis();
  if (problem !== undefined) throw new Error(problem);
  const port = await startServer({ dir: folder, appendfsync });
  if (hasReplica) {
    const dir = `${folder}/replica`;
    mkdirSync(dir);
    await startServer({ dir, appendfsync, replicaof: `127.0.0.1 ${port}` }, REPLICA_READY);
  }
  return `redis://127.0.0.1:${port}`;
}

/** Starts the server, and resolves to its port when a line of its log matches. */
async function startServer(
  changes: Readonly<Record<string, string>>,
  isReady = /Ready to accept connections/,
): Promise<string> {
  const port = String(await freePort());
  const settings = { bind: '127.0.0.1', port, ...SETTINGS, ...changes };
  const args = Object.entries(settings).flatMap(([name, value]) => [
    `--${name}`,
    ...(value === '' ? [''] : value.split(' ')),
  ]);
  await startChild(REDIS_SERVER, args, (line) => isReady.test(line));
  return port;
}

import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { atEnd } from '../../test/support/clean-up.js';
import { ROOT } from '../../test/support/root.js';
import { startChild } from './child.js';
import type { Store } from './store.js';
import type { Serving, ServingProcess } from './vitals.js';

/** A server under test, in its own process, which ends with the bench. */
export interface Server {
  readonly name: string;
  readonly url: string;
  /** The operator API for importing players; undefined for a server that keeps no balances. */
  readonly adminUrl: string | undefined;
  /**
   * The operator API that lists all players' balances. Undefined for a server that keeps no balances or cannot list
   * them.
   */
  readonly booksUrl: string | undefined;
  /** The operator API token, if the server requires one. */
  readonly token?: string | undefined;
  /** The prefix of the bench's player names in a walletd that has other players. */
  readonly playerPrefix?: string;
  /**
   * Settings of a walletd started by the bench, with which its tools find its store. Undefined for any other server.
   */
  readonly settings: Readonly<Record<string, string>> | undefined;
  readonly process: Serving;
}

/** A server started by the bench. */
export interface OwnServer extends Server {
  readonly process: ServingProcess;
}

const IMPORTED_AT_ONCE = 100_000;
const IMPORTS_MAX = 20;
const IMPORT_AGAIN_MS = 500;

/** A server to measure. Each `run` uses a fresh process. */
export interface Contestant {
  readonly name: string;
  /**
   * Number of players in a walletd that is measured with several counts. If undefined, the load determines the number.
   */
  readonly players?: number;
  start(run: number): Promise<Server>;
}

/** Echo server: parses and answers the same JSON with the same HTTP library as walletd, but stores nothing. */
export function echo(): Contestant {
  return peer('echo', 'echo');
}

/** Echo server that answers only once the request is in a log of the store: the minimum cost of a durable answer. */
export function durableEcho(store: Store): Contestant {
  return {
    name: 'durable echo',
    start: (run) => {
      const log = `durable-echo-${run}`;
      const { WALLETD_STORE: place = '', WALLETD_STORE_PREFIX: prefix = '' } = store.settingsOf(log);
      atEnd(() => store.remove(log));
      return startPeer('durable echo', 'echo', [], { ECHO_LOG: place, ECHO_LOG_KEY: `${prefix}:wal` });
    },
  };
}

/** A server from the folder peers/. */
export function peer(name: string, file: string, ...args: string[]): Contestant {
  return { name, start: () => startPeer(name, file, args) };
}

/** walletd with some settings changed, and with an empty store for each run. */
export function walletd(
  store: Store,
  workers: number,
  { name = `walletd ${describeWorkers(workers)}`, ...changes }: Readonly<Record<string, string>> = {},
): Contestant {
  return { name, start: (run) => startWalletd(store, workers, { ...changes, name: `${name} ${run}` }) };
}

/** Starts a server from the folder peers/. Its first line of JSON contains its address. */
export async function startPeer(
  name: string,
  file: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const script = `${ROOT}dist/bench/peers/${file}.js`;
  const isReady = (text: string) => text.startsWith('{');
  const { line, process: serving } = await startChild(process.execPath, [script, ...args], isReady, env);
  const { url, adminUrl } = JSON.parse(line) as { url: string; adminUrl?: string };
  return { name, url, adminUrl, booksUrl: undefined, settings: undefined, process: serving };
}

/**
 * Starts walletd as a user does, with its shards inline (0) or in `workers` worker threads, and some settings changed.
 * Uses the build in `root`.
 */
export async function startWalletd(
  store: Store,
  workers: number,
  { name = `walletd ${describeWorkers(workers)}`, ...changes }: Readonly<Record<string, string>> = {},
  root = ROOT,
): Promise<OwnServer> {
  const place = name.replace(/[^\w.-]+/g, '-');
  const settings = {
    ...store.settingsOf(place),
    ...changes,
    WALLETD_WORKERS: String(workers),
    WALLETD_PORT: '0',
    WALLETD_ADMIN_PORT: '0',
  };
  const isReady = (text: string) => text.includes('walletd is ready');
  // Remove the store when this server ends. A million players take a gigabyte, and the next round has its own store.
  atEnd(() => store.remove(place));
  const { line, process: serving } = await startChild('sh', [`${root}src/cli/walletd.sh`, 'serve'], isReady, settings);
  const { callbacks, operatorApi } = JSON.parse(line) as { callbacks: string; operatorApi: string };
  return { name, url: callbacks, adminUrl: operatorApi, booksUrl: operatorApi, settings, process: serving };
}

/** A human-readable number of workers. */
export function describeWorkers(workers: number): string {
  if (workers === 0) return 'inline';
  return workers === 1 ? '1 worker' : `${workers} workers`;
}

/**
 * Runs `walletd verify`, which checks the store against its log, its ledger and the server's state. Throws an error
 * with the findings.
 */
export function verify({ name, adminUrl, settings }: Server, root = ROOT): void {
  if (settings === undefined || adminUrl === undefined) return;
  const args = [`${root}src/cli/walletd.sh`, 'verify', '--server', adminUrl];
  const { status, stdout, stderr } = spawnSync('sh', args, { env: { ...process.env, ...settings }, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${name}: walletd verify finds\n${stdout}${stderr}`);
}

/** Imports players. Calls `onImported` with the number of players imported so far. */
export async function importPlayers(
  adminUrl: string,
  usernames: readonly string[],
  balance: number,
  onImported: (count: number) => void = () => {},
  token?: string,
): Promise<void> {
  for (let from = 0; from < usernames.length; from += IMPORTED_AT_ONCE) {
    const some = usernames.slice(from, from + IMPORTED_AT_ONCE);
    await importSome(adminUrl, some, balance, token);
    onImported(from + some.length);
  }
}

/** The header that carries the token. */
export function bearer(token: string | undefined): Readonly<Record<string, string>> {
  return token === undefined ? {} : { Authorization: `Bearer ${token}` };
}

interface Sums {
  readonly created: number;
  /** Number of players that existed already; reported only by walletd. */
  readonly skipped?: number;
}

/**
 * In a cluster, some players are refused while their shard is moving. Importing the same lines again creates these
 * players and skips the others.
 */
async function importSome(
  adminUrl: string,
  usernames: readonly string[],
  balance: number,
  token?: string,
): Promise<void> {
  const lines = usernames.map((username) => JSON.stringify({ id: 'open', username, currency: 'THB', balance }));
  const init = {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson', ...bearer(token) },
    body: lines.join('\n'),
  };
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(`${adminUrl}/v1/players:import`, init);
    const text = await response.text();
    const end = text.trim().split('\n').at(-1) as string;
    const { created, skipped = 0 } = response.ok ? (JSON.parse(end) as Sums) : { created: 0 };
    // In the first attempt, no player may exist yet. In later ones, players from earlier attempts may.
    if (created + (attempt === 1 ? 0 : skipped) === usernames.length) return;
    const isHopeless = response.status >= 400 && response.status < 500;
    if (isHopeless || attempt === IMPORTS_MAX) throw new Error(`players are not created: ${response.status} ${end}`);
    await delay(IMPORT_AGAIN_MS);
  }
}

import { spawnSync } from 'node:child_process';
import { startChild } from './child.js';
import { ROOT } from './root.js';
import type { Store } from './store.js';

/** A server under test, in a process of its own, which ends with the bench. */
export interface Server {
  readonly name: string;
  readonly url: string;
  /** Where players are imported; undefined for a server that keeps no balances. */
  readonly adminUrl: string | undefined;
  /** Of a walletd: with these its tools find its store. Undefined for any other server. */
  readonly settings: Readonly<Record<string, string>> | undefined;
}

/** What is to be measured: a fresh process for each `run`. */
export interface Contestant {
  readonly name: string;
  start(run: number): Promise<Server>;
}

/** Parses and answers the same JSON on the same HTTP library, and stores nothing. */
export function echo(): Contestant {
  return peer('echo', 'echo');
}

/** The same, and answers when what it was sent is in a log of the store: the least that a durable answer takes. */
export function durableEcho(store: Store): Contestant {
  const { WALLETD_STORE: place = '' } = store.settingsOf('durable-echo');
  return peer('durable echo', 'echo', place);
}

/** A server of the folder peers/. */
export function peer(name: string, file: string, ...args: string[]): Contestant {
  return { name, start: () => startPeer(name, file, ...args) };
}

/** walletd, with some settings changed, and for each run an empty store. */
export function walletd(
  store: Store,
  workers: number,
  { name = `walletd ${describeWorkers(workers)}`, ...changes }: Readonly<Record<string, string>> = {},
): Contestant {
  return { name, start: (run) => startWalletd(store, workers, { ...changes, name: `${name} ${run}` }) };
}

/** A server of the folder peers/; its first line of JSON says where it listens. */
export async function startPeer(name: string, file: string, ...args: string[]): Promise<Server> {
  const script = `${ROOT}dist/bench/peers/${file}.js`;
  const line = await startChild(process.execPath, [script, ...args], (text) => text.startsWith('{'));
  const { url, adminUrl } = JSON.parse(line) as { url: string; adminUrl?: string };
  return { name, url, adminUrl, settings: undefined };
}

/**
 * walletd as a user starts it, with its shards inline (0) or on so many worker threads, and some settings changed; of the
 * project that is built in `root`.
 */
export async function startWalletd(
  store: Store,
  workers: number,
  { name = `walletd ${describeWorkers(workers)}`, ...changes }: Readonly<Record<string, string>> = {},
  root = ROOT,
): Promise<Server> {
  const settings = {
    ...store.settingsOf(name.replaceAll(' ', '-')),
    ...changes,
    WALLETD_WORKERS: String(workers),
    WALLETD_PORT: '0',
    WALLETD_ADMIN_PORT: '0',
  };
  const isReady = (text: string) => text.includes('walletd is ready');
  const line = await startChild('sh', [`${root}src/cli/walletd.sh`, 'serve'], isReady, settings);
  const { callbacks, operatorApi } = JSON.parse(line) as { callbacks: string; operatorApi: string };
  return { name, url: callbacks, adminUrl: operatorApi, settings };
}

/** For people. */
export function describeWorkers(workers: number): string {
  if (workers === 0) return 'inline';
  return workers === 1 ? '1 worker' : `${workers} workers`;
}

/** Has walletd prove the store by its log, its books and what the server tells; throws what it finds. */
export function verify({ name, adminUrl, settings }: Server, root = ROOT): void {
  if (settings === undefined || adminUrl === undefined) return;
  const args = [`${root}src/cli/walletd.sh`, 'verify', '--server', adminUrl];
  const { status, stdout, stderr } = spawnSync('sh', args, { env: { ...process.env, ...settings }, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${name}: walletd verify finds\n${stdout}${stderr}`);
}

export async function importPlayers(adminUrl: string, usernames: readonly string[], balance: number): Promise<void> {
  const lines = usernames.map((username) => JSON.stringify({ id: 'open', username, currency: 'THB', balance }));
  const init = { method: 'POST', headers: { 'Content-Type': 'application/x-ndjson' }, body: lines.join('\n') };
  const response = await fetch(`${adminUrl}/v1/players:import`, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`players cannot be imported: ${response.status} ${text.trim()}`);
  const sums = JSON.parse(text.trim().split('\n').at(-1) as string) as { created: number };
  if (sums.created !== usernames.length) throw new Error(`only ${sums.created} of ${usernames.length} players created`);
}

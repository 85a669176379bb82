import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const START_MS = 20_000;

/** A server under test, in a process of its own. */
export interface Server {
  readonly name: string;
  readonly url: string;
  readonly adminUrl: string | undefined;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Parses and answers the same JSON on the same HTTP library, and stores nothing. */
export async function startEcho(): Promise<Server> {
  const child = spawn(process.execPath, [`${ROOT}dist/bench/peers/echo.js`], { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await firstLine(child, (text) => text.startsWith('{'));
  return serverOf('echo', child, JSON.parse(line).url, undefined);
}

/** walletd as a user starts it, with an empty store in `folder`; the store is removed at the end. */
export async function startWalletd(folder: string, env: Readonly<Record<string, string>> = {}): Promise<Server> {
  const store = mkdtempSync(`${folder}/walletd-bench-`);
  const settings = { WALLETD_STORE: `lmdb:${store}`, WALLETD_PORT: '0', WALLETD_ADMIN_PORT: '0', ...env };
  const child = spawn('sh', [`${ROOT}src/cli/walletd.sh`, 'serve'], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await firstLine(child, (text) => text.includes('walletd is ready'));
  const { callbacks, operatorApi } = JSON.parse(line) as { callbacks: string; operatorApi: string };
  const server = serverOf('walletd', child, callbacks, operatorApi);
  return {
    ...server,
    stop: async () => {
      await server.stop();
      rmSync(store, { recursive: true, force: true });
    },
  };
}

function serverOf(name: string, child: ChildProcess, url: string, adminUrl: string | undefined): Server {
  return {
    name,
    url,
    adminUrl,
    pid: child.pid as number,
    stop: async () => {
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

async function firstLine(child: ChildProcess, wanted: (text: string) => boolean): Promise<string> {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS);
  try {
    for await (const line of lines) if (wanted(line)) return line;
  } finally {
    clearTimeout(timer);
    // What is printed later must be read, or the server stops when the pipe is full.
    child.stdout?.resume();
  }
  throw new Error('the server ended before it was ready');
}

export async function importPlayers(adminUrl: string, usernames: readonly string[], balance: number): Promise<void> {
  const lines = usernames.map((username) => JSON.stringify({ id: 'open', username, currency: 'THB', balance }));
  const init = { method: 'POST', headers: { 'Content-Type': 'application/x-ndjson' }, body: lines.join('\n') };
  const response = await fetch(`${adminUrl}/v1/players:import`, init);
  const sums = JSON.parse((await response.text()).trim().split('\n').at(-1) as string) as { created: number };
  if (sums.created !== usernames.length) throw new Error(`only ${sums.created} of ${usernames.length} players created`);
}

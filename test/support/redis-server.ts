import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { endAfterTests } from './children.js';
import { freePort } from './free-port.js';
import { makeTempFolder } from './temp-folder.js';
import { REDIS_SERVER } from './versions.js';

const START_MS = 30_000;
const ATTEMPTS = 5;

/** Settings that walletd requires: every write is on disk before it is acknowledged, and no key is evicted. */
const PRODUCTION: Readonly<Record<string, string>> = {
  appendonly: 'yes',
  appendfsync: 'always',
  'no-appendfsync-on-rewrite': 'no',
  'maxmemory-policy': 'noeviction',
  save: '',
};

/** A real Redis on a free port with its own folder. */
export class RedisServer {
  private readonly folder = makeTempFolder();
  private child: ChildProcess | undefined = undefined;

  /** Environment variables for each server process, in addition to the test's own. */
  env: Readonly<Record<string, string>> = {};

  private constructor(
    public port: number,
    private readonly settings: Readonly<Record<string, string>>,
  ) {}

  static async start(settings: Readonly<Record<string, string>> = {}): Promise<RedisServer> {
    return await withPort(async (port) => {
      const server = new RedisServer(port, { ...PRODUCTION, ...settings });
      try {
        await server.start();
        return server;
      } catch (error) {
        await server.destroy();
        throw error;
      }
    });
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** The folder with the server's files. */
  get path(): string {
    return this.folder.path;
  }

  get pid(): number {
    return this.child?.pid as number;
  }

  get hasEnded(): boolean {
    return this.child?.exitCode !== null || this.child?.signalCode !== null;
  }

  /** Starts the server, or restarts it with the data on its disk. */
  async start(changes: Readonly<Record<string, string>> = {}): Promise<void> {
    const settings = Object.entries({
      bind: '127.0.0.1',
      port: String(this.port),
      dir: this.folder.path,
      ...this.settings,
      ...changes,
    });
    const args = settings.flatMap(([name, value]) => [`--${name}`, ...(name === 'save' ? [value] : value.split(' '))]);
    this.child = await startRedisServer(args, /Ready to accept connections/, this.env);
  }

  /** Starts the server on a different port as a master, with the data on its disk. */
  async startElsewhere(): Promise<void> {
    await withPort(async (port) => {
      this.port = port;
      await this.start({ replicaof: 'no one' });
    });
  }

  /** Restarts the server without any data, as after the loss of its disk. */
  async startEmpty(): Promise<void> {
    await this.end();
    for (const name of readdirSync(this.folder.path)) {
      rmSync(join(this.folder.path, name), { recursive: true });
    }
    await this.start();
  }

  /** Opens a connection, which the test must close. */
  client(): Redis {
    const client = new Redis(this.port, '127.0.0.1', { lazyConnect: false, retryStrategy: () => null });
    client.on('error', () => {});
    return client;
  }

  /** Runs one command on a new connection. */
  async call(command: string, ...args: (string | number | Buffer)[]): Promise<unknown> {
    const client = this.client();
    try {
      return await client.call(command, ...args);
    } finally {
      client.disconnect();
    }
  }

  /** True if a connected replica is in sync. */
  async hasReplica(): Promise<boolean> {
    return /^slave\d+:.*state=online/m.test(String(await this.call('INFO', 'replication')));
  }

  signal(signal: NodeJS.Signals): void {
    this.child?.kill(signal);
  }

  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.child !== undefined) await endChild(this.child, signal);
  }

  async destroy(): Promise<void> {
    await this.end();
    this.folder.remove();
  }
}

/** Starts a server on a free port. Tries a different port if another process takes it in the meantime. */
export async function withPort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

/** Starts a server. Resolves when the server's output matches `ready`. Otherwise ends the server and rejects. */
export async function startRedisServer(
  args: readonly string[],
  ready: RegExp,
  env: Readonly<Record<string, string>> = {},
): Promise<ChildProcess> {
  const options = { stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } };
  const child = endAfterTests(spawn(REDIS_SERVER, args, options));
  let output = '';
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (what: string) => reject(new Error(`${REDIS_SERVER} ${what}: ${output}`));
      timer = setTimeout(() => fail('does not start'), START_MS);
      child.stdout.on('data', (data: Buffer) => {
        output = (output + data.toString()).slice(-10_000);
        if (ready.test(output)) resolve();
      });
      child.on('error', reject);
      child.on('exit', () => fail('ended'));
    });
    return child;
  } catch (error) {
    await endChild(child, 'SIGKILL');
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves when the child has exited, even if it had been stopped. */
export async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGCONT');
  child.kill(signal);
  await exited;
}

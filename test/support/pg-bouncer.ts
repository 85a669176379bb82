import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, writeFileSync } from 'node:fs';
import { findFolderOf, onPath } from './programs.js';
import { makeTempFolder } from './temp-folder.js';
import { until } from './until.js';

const USER = 'postgres';
/** Debian installs the program in a folder that is not on every user's PATH. */
const FOLDERS = [...onPath(), '/usr/sbin'];

/** A sentence that explains why PgBouncer cannot run on this machine; undefined if it can. */
export function whyNoPgBouncer(): string | undefined {
  return maybeFolder() === undefined ? 'PgBouncer is not installed: apt-get install pgbouncer' : undefined;
}

/**
 * A real PgBouncer in front of a PostgreSQL. It has two sessions per database, or 20 in the mode in which each client
 * keeps its own session.
 */
export class PgBouncer {
  private constructor(
    private readonly folder: ReturnType<typeof makeTempFolder>,
    private readonly child: ChildProcess,
  ) {}

  /** Starts a PgBouncer. `socketFolder` contains the PostgreSQL socket. */
  static async start(socketFolder: string, poolMode: 'session' | 'transaction' | 'statement'): Promise<PgBouncer> {
    const folder = makeTempFolder();
    const file = `${folder.path}/pgbouncer.ini`;
    writeFileSync(
      file,
      `[databases]
* = host=${socketFolder} port=5432 user=${USER}
[pgbouncer]
listen_addr =
listen_port = 5432
unix_socket_dir = ${folder.path}
auth_type = any
pool_mode = ${poolMode}
default_pool_size = ${poolMode === 'session' ? 20 : 2}
`,
    );
    // Run the program as a different user, because PgBouncer refuses to run as root.
    const identity = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};
    if (identity.uid !== undefined) chownSync(folder.path, identity.uid, identity.gid);
    const child = spawn(`${maybeFolder()}/pgbouncer`, [file], { ...identity, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr?.on('data', (bytes) => {
      said += bytes;
    });
    await until('PgBouncer listens', () => {
      if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${said}`);
      return said.includes('process up');
    });
    return new PgBouncer(folder, child);
  }

  url(database: string): string {
    return `postgres://${USER}@localhost/${database}?host=${encodeURIComponent(this.folder.path)}`;
  }

  async stop(): Promise<void> {
    this.child.kill('SIGKILL');
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
    this.folder.remove();
  }
}

function maybeFolder(): string | undefined {
  return findFolderOf(['pgbouncer'], FOLDERS);
}

function idOf(option: '-u' | '-g'): number {
  return Number(execFileSync('id', [option, USER], { encoding: 'utf8' }));
}

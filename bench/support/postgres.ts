import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { atEnd } from './clean-up.js';
import { findFolderOf, onPath } from './programs.js';

/** Debian's folder for each version, not on the PATH. */
const DEBIAN = '/usr/lib/postgresql';
const PROGRAMS = ['initdb', 'postgres', 'pg_ctl', 'pg_basebackup'];
/**
 * User that runs the server when we are root, since PostgreSQL refuses to run as root. Debian's package creates this
 * user.
 */
const USER = 'postgres';

/**
 * A commit is on the disk before it is answered. Memory and the log are sized as in production, so that a bench meets
 * no extra checkpoint. The rest is PostgreSQL's default: full pages are logged, autovacuum runs.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  wal_level: 'replica',
  wal_buffers: '16MB',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  shared_buffers: '256MB',
  max_connections: '100',
  // A socket in the server's own folder needs no port and no password: only this user and root can reach it.
  listen_addresses: '',
};

export interface Postgres {
  readonly url: string;
  /** A readable description of a durable write here. */
  readonly durability: string;
  /** Ends the server at once, as a crash would; `start` resumes it. */
  crash(): void;
  start(): void;
}

/** A sentence on why no server can run here; undefined when one can. */
export function whyNoPostgres(): string | undefined {
  if (maybePrograms() === undefined) return 'PostgreSQL is not installed: apt-get install postgresql';
  if (!isRoot() || findIdOf('-u') !== undefined) return undefined;
  return `PostgreSQL does not run as root, and there is no user ${USER}: useradd --system ${USER}`;
}

/** Starts a real PostgreSQL with its files in a temporary folder under `folder`, until the bench ends. */
export function startPostgres(folder: string): Postgres {
  const problem = whyNoPostgres();
  if (problem !== undefined) throw new Error(problem);
  const own = makeOwnFolder(folder);
  const data = `${own}/data`;
  runProgram(own, 'initdb', `--pgdata=${data}`, `--username=${USER}`, '--auth=trust', '--encoding=UTF8', '--locale=C');
  const settings = Object.entries({ ...SETTINGS, unix_socket_directories: own });
  appendFileSync(`${data}/postgresql.conf`, settings.map(([name, value]) => `${name} = '${value}'\n`).join(''));
  const start = () => void runProgram(own, 'pg_ctl', 'start', '--wait', `--pgdata=${data}`, `--log=${own}/log`);
  const crash = () => void runProgram(own, 'pg_ctl', 'stop', '--wait', '--mode=immediate', `--pgdata=${data}`);
  start();
  // A crash will do: the files are removed next.
  atEnd(crash);
  const version = /\d[\d.]*/.exec(runProgram(own, 'postgres', '--version'))?.[0];
  return {
    // A folder in place of a host: the one with the socket.
    url: `postgres://${USER}@localhost/postgres?host=${encodeURIComponent(own)}`,
    durability: `PostgreSQL ${version} with fsync on, synchronous_commit on in ${folder}`,
    crash,
    start,
  };
}

/** A new folder that belongs to the server's user; removed at the end. */
export function makeOwnFolder(folder: string): string {
  const own = mkdtempSync(`${folder}/walletd-postgres-`);
  atEnd(() => rmSync(own, { recursive: true, force: true }));
  const { uid, gid } = owner();
  if (uid !== undefined && gid !== undefined) chownSync(own, uid, gid);
  return own;
}

/** Runs one of the programs until it ends, as the server's user. */
export function runProgram(cwd: string, program: string, ...args: string[]): string {
  try {
    return execFileSync(`${maybePrograms()}/${program}`, args, { ...owner(), cwd, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    throw new Error(`${(error as Error).message}${readServerLog(cwd)}`);
  }
}

/** The server's log, since pg_ctl does not repeat it. */
function readServerLog(own: string): string {
  return existsSync(`${own}/log`) ? `\n${readFileSync(`${own}/log`, 'utf8')}` : '';
}

function owner(): { readonly uid?: number; readonly gid?: number } {
  if (!isRoot()) return {};
  return { uid: findIdOf('-u') as number, gid: findIdOf('-g') as number };
}

function maybePrograms(): string | undefined {
  return findFolderOf(PROGRAMS, [...onPath(), ...debianFolders()]);
}

/** Newest version first. */
function debianFolders(): string[] {
  try {
    const versions = readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a));
    return versions.map((version) => `${DEBIAN}/${version}/bin`);
  } catch {
    return [];
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** The id of the user (`-u`) or of their group (`-g`). */
function findIdOf(option: '-u' | '-g'): number | undefined {
  try {
    return Number(execFileSync('id', [option, USER], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  } catch {
    return undefined;
  }
}

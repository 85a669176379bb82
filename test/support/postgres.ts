import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { atEnd } from './clean-up.js';
import { findFolderOf, onPath } from './programs.js';

/** Debian installs each version in a folder that is not on the PATH. */
const DEBIAN = '/usr/lib/postgresql';
const PROGRAMS = ['initdb', 'postgres', 'pg_ctl', 'pg_basebackup'];
/**
 * User that runs the server if we are root, because PostgreSQL refuses to run as root. Debian's package creates this
 * user.
 */
const USER = 'postgres';

/**
 * A commit is on disk before it is acknowledged. Memory and log are sized as in production, so that a bench causes no
 * extra checkpoint. Everything else is PostgreSQL's default: full pages are logged, and autovacuum runs.
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
  // A socket in the server's own folder needs no port and no password, because only this user and root can access it.
  listen_addresses: '',
};

export interface Postgres {
  readonly url: string;
  /** A human-readable description of a durable write on this server. */
  readonly durability: string;
  /** Stops the server abruptly, like a crash; `start` resumes it. */
  crash(): void;
  start(): void;
}

/** A sentence that explains why no server can run on this machine; undefined if one can. */
export function whyNoPostgres(): string | undefined {
  if (findPrograms() === undefined) return 'PostgreSQL is not installed: apt-get install postgresql';
  if (!isRoot() || findIdOf('-u') !== undefined) return undefined;
  return `PostgreSQL does not run as root, and there is no user ${USER}: useradd --system ${USER}`;
}

/** Starts a real PostgreSQL, with its files in a temporary folder below `folder`, until the bench ends. */
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
  // Stop the server abruptly, because its files are removed afterwards anyway.
  atEnd(crash);
  const version = /\d[\d.]*/.exec(runProgram(own, 'postgres', '--version'))?.[0];
  return {
    // The host is the folder that contains the socket.
    url: `postgres://${USER}@localhost/postgres?host=${encodeURIComponent(own)}`,
    durability: `PostgreSQL ${version} with fsync on, synchronous_commit on in ${folder}`,
    crash,
    start,
  };
}

/** New folder owned by the server's user; removed at the end. */
export function makeOwnFolder(folder: string): string {
  const own = mkdtempSync(`${folder}/walletd-postgres-`);
  atEnd(() => rmSync(own, { recursive: true, force: true }));
  const { uid, gid } = owner();
  if (uid !== undefined && gid !== undefined) chownSync(own, uid, gid);
  return own;
}

/** Runs one of the programs to completion as the server's user. */
export function runProgram(cwd: string, program: string, ...args: string[]): string {
  try {
    return execFileSync(`${findPrograms()}/${program}`, args, { ...owner(), cwd, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    throw new Error(`${(error as Error).message}${readServerLog(cwd)}`);
  }
}

/** Reads the server's log, because pg_ctl's output does not contain the reason. */
function readServerLog(own: string): string {
  return existsSync(`${own}/log`) ? `\n${readFileSync(`${own}/log`, 'utf8')}` : '';
}

function owner(): { readonly uid?: number; readonly gid?: number } {
  if (!isRoot()) return {};
  return { uid: findIdOf('-u') as number, gid: findIdOf('-g') as number };
}

function findPrograms(): string | undefined {
  return findFolderOf(PROGRAMS, [...onPath(), ...debianFolders()]);
}

/** Folders of Debian's PostgreSQL versions, newest version first. */
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

/** The ID of the user (`-u`) or of their group (`-g`). */
function findIdOf(option: '-u' | '-g'): number | undefined {
  try {
    return Number(execFileSync('id', [option, USER], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  } catch {
    return undefined;
  }
}

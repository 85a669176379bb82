import { release } from 'node:os';
import { commit, findRedisVersion, packageVersion } from '../../test/support/versions.js';
import { describeFsync, machine } from './machine.js';

/** Facts that a reader needs to judge any figure. */
export interface Environment {
  readonly time: string;
  readonly command: string;
  readonly machine: string;
  readonly system: string;
  readonly versions: Readonly<Record<string, string>>;
  /** Includes a `+` if files differ from the commit. */
  readonly commit: string;
  /** Cost of one durable write in the stores' folder. */
  readonly fsync: string;
}

/** Removes credentials, because reports are shared. */
export function withoutLogins(command: string): string {
  return command.replace(/:\/\/[^@\s]*@/g, '://');
}

const PACKAGES = ['lmdb', 'ioredis', 'uWebSockets.js', 'fastify'];

export function environment(folder: string): Environment {
  return {
    time: new Date().toISOString(),
    command: withoutLogins(`bench ${process.argv.slice(2).join(' ')}`),
    machine: machine(),
    system: `${process.platform} ${release()}`,
    versions: {
      node: process.version,
      redis: findRedisVersion() ?? 'none',
      ...Object.fromEntries(PACKAGES.map((name) => [name, packageVersion(name)])),
    },
    commit: commit(),
    fsync: describeFsync(folder),
  };
}

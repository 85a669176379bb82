import { release } from 'node:os';
import { describeFsync, machine } from './machine.js';
import { commit, maybeRedisVersion, packageVersion } from './versions.js';

/** What a figure cannot be judged without. */
export interface Environment {
  readonly time: string;
  readonly command: string;
  readonly machine: string;
  readonly system: string;
  readonly versions: Readonly<Record<string, string>>;
  /** With a `+` when files differ from it. */
  readonly commit: string;
  /** What one durable write in the folder of the stores takes. */
  readonly fsync: string;
}

/** Reports are shown around. */
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
      redis: maybeRedisVersion() ?? 'none',
      ...Object.fromEntries(PACKAGES.map((name) => [name, packageVersion(name)])),
    },
    commit: commit(),
    fsync: describeFsync(folder),
  };
}

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { ROOT } from './root.js';

/** A program that tests, faults and benches start as Redis: a name on the PATH, or a path. */
export const REDIS_SERVER = process.env.WALLETD_TEST_REDIS || 'redis-server';

/** Installed version of a package. */
export function packageVersion(name: string): string {
  const description = readFileSync(`${ROOT}node_modules/${name}/package.json`, 'utf8');
  return (JSON.parse(description) as { version: string }).version;
}

/** The name and version, for example `Redis 7.0.15` or `Valkey 8.0.1`. Undefined if it is not installed. */
export function findRedisVersion(): string | undefined {
  const [, name, version] = /^(\w+) server v=(\S+)/.exec(output(REDIS_SERVER, ['--version'])) ?? [];
  return name && `${name} ${version}`;
}

/** Short hash of the commit checked out in this folder, with a `+` if some files differ from it. */
export function commit(): string {
  const isChanged = output('git', ['status', '--porcelain']) !== '';
  return output('git', ['rev-parse', '--short', 'HEAD']) + (isChanged ? '+' : '');
}

/** The output of a program; empty if the program does not exist. */
function output(command: string, args: readonly string[]): string {
  return spawnSync(command, args, { cwd: ROOT, encoding: 'utf8' }).stdout?.trim() ?? '';
}

/** A sentence that explains why no server can run on this machine; undefined if one can. */
export function whyNoRedis(): string | undefined {
  if (findRedisVersion() !== undefined) return undefined;
  return `${REDIS_SERVER} is not on the PATH: apt-get install redis-server, or otherwise Redis 7 or later`;
}

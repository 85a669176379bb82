import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { ROOT } from './root.js';

/** Installed version of a package. */
export function packageVersion(name: string): string {
  const description = readFileSync(`${ROOT}node_modules/${name}/package.json`, 'utf8');
  return (JSON.parse(description) as { version: string }).version;
}

/** Undefined if Redis is not installed. */
export function findRedisVersion(): string | undefined {
  return /v=(\S+)/.exec(output('redis-server', ['--version']))?.[1];
}

/** Short hash of the commit checked out in this folder, with a `+` if some files differ from it. */
export function commit(): string {
  const isChanged = output('git', ['status', '--porcelain']) !== '';
  return output('git', ['rev-parse', '--short', 'HEAD']) + (isChanged ? '+' : '');
}

/** Empty if the program does not exist. */
function output(command: string, args: readonly string[]): string {
  return spawnSync(command, args, { cwd: ROOT, encoding: 'utf8' }).stdout?.trim() ?? '';
}

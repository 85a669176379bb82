import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { ROOT } from './root.js';

/** Version of a package as installed. */
export function packageVersion(name: string): string {
  const description = readFileSync(`${ROOT}node_modules/${name}/package.json`, 'utf8');
  return (JSON.parse(description) as { version: string }).version;
}

/** Undefined when Redis is not installed. */
export function findRedisVersion(): string | undefined {
  return /v=(\S+)/.exec(output('redis-server', ['--version']))?.[1];
}

/** Short commit of the files in this folder, with a `+` when some files differ from it. */
export function commit(): string {
  const isChanged = output('git', ['status', '--porcelain']) !== '';
  return output('git', ['rev-parse', '--short', 'HEAD']) + (isChanged ? '+' : '');
}

/** Empty when there is no such program. */
function output(command: string, args: readonly string[]): string {
  return spawnSync(command, args, { cwd: ROOT, encoding: 'utf8' }).stdout?.trim() ?? '';
}

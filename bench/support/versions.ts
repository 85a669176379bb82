import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { ROOT } from './root.js';

/** Of a package, as it is installed. */
export function packageVersion(name: string): string {
  const description = readFileSync(`${ROOT}node_modules/${name}/package.json`, 'utf8');
  return (JSON.parse(description) as { version: string }).version;
}

/** Undefined where there is none. */
export function maybeRedisVersion(): string | undefined {
  return /v=(\S+)/.exec(output('redis-server', ['--version']))?.[1];
}

/** Of the files in this folder, short; with a `+` when some differ from it. */
export function commit(): string {
  const isChanged = output('git', ['status', '--porcelain']) !== '';
  return output('git', ['rev-parse', '--short', 'HEAD']) + (isChanged ? '+' : '');
}

/** Empty when there is no such program. */
function output(command: string, args: readonly string[]): string {
  return spawnSync(command, args, { cwd: ROOT, encoding: 'utf8' }).stdout?.trim() ?? '';
}

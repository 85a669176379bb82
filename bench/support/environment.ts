import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { release } from 'node:os';
import { fsyncMs, machine } from './machine.js';
import { ROOT } from './root.js';

/** What a figure cannot be judged without. */
export interface Environment {
  readonly time: string;
  readonly command: string;
  readonly machine: string;
  readonly system: string;
  readonly versions: Readonly<Record<string, string>>;
  /** With a `+` when files differ from it. */
  readonly commit: string;
  /** Of one durable write in the folder of the stores, in milliseconds. */
  readonly fsyncMs: string;
}

const PACKAGES = ['lmdb', 'ioredis', 'uWebSockets.js', 'fastify'];

export function environment(folder: string): Environment {
  return {
    time: new Date().toISOString(),
    command: `bench ${process.argv.slice(2).join(' ')}`,
    machine: machine(),
    system: `${process.platform} ${release()}`,
    versions: { node: process.version, redis: redisVersion(), ...Object.fromEntries(PACKAGES.map(versionOf)) },
    commit: commit(),
    fsyncMs: fsyncMs(folder),
  };
}

function versionOf(name: string): [string, string] {
  const { version } = createRequire(import.meta.url)(`${ROOT}node_modules/${name}/package.json`) as { version: string };
  return [name, version];
}

function redisVersion(): string {
  return /v=(\S+)/.exec(output('redis-server', ['--version']))?.[1] ?? 'none';
}

function commit(): string {
  const isChanged = output('git', ['status', '--porcelain']) !== '';
  return output('git', ['rev-parse', '--short', 'HEAD']) + (isChanged ? '+' : '');
}

/** Empty when there is no such program. */
function output(command: string, args: readonly string[]): string {
  return spawnSync(command, args, { cwd: ROOT, encoding: 'utf8' }).stdout?.trim() ?? '';
}

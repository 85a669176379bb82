import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { SECRET } from './at-reference-operator.js';

/** Runs the curl commands of a report, and returns the answers. */
export async function runInShell(lines: readonly string[]): Promise<Record<string, unknown>[]> {
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', lines.join('\n')], {
    env: { ...process.env, KEY: SECRET },
  });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { atEnd } from '../../test/support/clean-up.js';
import { ROOT } from '../../test/support/root.js';

/**
 * Builds a commit in a folder below `folder`, which is removed at the end. Returns the build folder with a trailing
 * slash. Uses the working tree's packages if both require the same ones.
 */
export function checkOut(ref: string, folder: string): string {
  const own = mkdtempSync(`${folder}/walletd-ref-`);
  atEnd(() => {
    rmSync(own, { recursive: true, force: true });
    run('git', ['worktree', 'prune'], ROOT);
  });
  run('git', ['worktree', 'add', '--detach', own, ref], ROOT);
  const lockfile = (root: string) => readFileSync(`${root}/package-lock.json`, 'utf8');
  if (lockfile(own) === lockfile(ROOT)) symlinkSync(`${ROOT}node_modules`, `${own}/node_modules`);
  else run('npm', ['ci', '--no-audit', '--no-fund'], own);
  run('node_modules/.bin/tsc', [], own);
  return `${own}/`;
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stdout + stderr}`);
}

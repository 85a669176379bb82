import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { atEnd } from '../support/clean-up.js';
import { ROOT } from '../support/root.js';

/**
 * Builds the files of a commit in a folder under `folder`, removed at the end. Returns that folder with a slash. Uses
 * the packages of the working tree when both ask for the same ones.
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

import type { ChildProcess } from 'node:child_process';
import { after } from 'node:test';

const children = new Set<ChildProcess>();

/**
 * Ends a child process after the tests. A child that a failed test leaves running would keep the test file, and thus
 * the whole run, from ending.
 */
export function endAfterTests<T extends ChildProcess>(child: T): T {
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

function endChildren(): void {
  for (const child of children) child.kill('SIGKILL');
}

process.on('exit', endChildren);
// Skipped in programs that use these helpers but are not tests.
if (process.env.NODE_TEST_CONTEXT !== undefined) after(endChildren);

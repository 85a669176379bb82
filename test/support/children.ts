import type { ChildProcess } from 'node:child_process';
import { after } from 'node:test';

const children = new Set<ChildProcess>();

/**
 * Ends a child process after the tests. If a failed test left a child running, neither the test file nor the whole run
 * would end.
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
// Programs that use these helpers but are not tests skip this.
if (process.env.NODE_TEST_CONTEXT !== undefined) after(endChildren);

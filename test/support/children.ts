import type { ChildProcess } from 'node:child_process';
import { after } from 'node:test';

const children = new Set<ChildProcess>();

/** What a test leaves running because it fails would keep its file, and with it the whole run, from ever ending. */
export function endAfterTests<T extends ChildProcess>(child: T): T {
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

function endChildren(): void {
  for (const child of children) child.kill('SIGKILL');
}

process.on('exit', endChildren);
// Not in a program that uses these helpers and is no test.
if (process.env.NODE_TEST_CONTEXT !== undefined) after(endChildren);

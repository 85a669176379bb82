import { createInterface } from 'node:readline/promises';
import { StoreError } from '../node/drivers/store-error.js';

/** Asks on the terminal, unless `yes` has answered in advance. Throws a `StoreError` if there is no terminal. */
export async function confirm(question: string, { yes }: { readonly yes?: true }): Promise<boolean> {
  if (yes) return true;
  if (!process.stdin.isTTY)
    throw new StoreError('cannot ask for confirmation without a terminal: run this command on one, or with --yes');
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // Ctrl-C and the end of the input reject the promise; neither counts as a yes.
  const answer = await terminal.question(`${question} Type yes: `).catch(() => '\n');
  terminal.close();
  if (answer.trim() === 'yes') return true;
  console.log('Nothing was changed.');
  return false;
}

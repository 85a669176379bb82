/** How a command ends because of an error. The exit codes are in `src/node/settings/exit-codes.ts`. */
export type Ending = 'failure' | 'usage' | 'fenced' | 'cutOff' | 'otherArchive' | 'cannotKnow';

/**
 * An error that its reader can fix: a wrong setting, a store that needs an operator, a file that is cut off. The message
 * is a sentence that names the fault, and if possible the remedy. A command prints only this sentence. The stack is for
 * bugs in walletd, which are all other errors.
 */
export class UserError extends Error {
  override readonly name: string = 'UserError';
  readonly ending: Ending = 'failure';
}

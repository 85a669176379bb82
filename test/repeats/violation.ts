import type { Message } from '../../src/tools/simulate/message.js';

/** The promise that an answer, a balance or a list of transactions has broken. */
export type Promised =
  | 'a repeat is answered 0, 20002, 20003 or 20004'
  | 'a repeat that is answered 0 has the first balances'
  | 'a repeat leaves the balance alone'
  | 'a repeat leaves the transactions alone'
  | 'a message moves the balance once, by its own balances'
  | 'a refusal leaves the balance alone';

export interface Violation {
  readonly promised: Promised;
  readonly message: Message;
  /** Expected and seen, in words. */
  readonly detail: string;
}

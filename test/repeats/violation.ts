import type { Message } from '../../src/simulate/message.js';

/*
 * Promises for every message that was answered 0 and is sent again later, with the same bytes:
 *   P1. The repeat changes no balance and no transaction. The answer is 0 with the balances of the first answer, or 20002,
 *       20003, 20004.
 *   P2. An array is repeated as a whole: none of its elements is executed again.
 *   P3. All copies of a message with an unknown outcome together take effect at most once.
 *   P4. A refusal does not count as the first answer: the same message may be accepted later, and P1 applies from then on.
 */

/** The promise that was broken by an answer, a balance or a list of transactions. */
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
  /** Expected and actual values, in words. */
  readonly detail: string;
}

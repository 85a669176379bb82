import type { Message } from '../../src/simulate/message.js';

/**
 * How a new message is sent. `at once`: two copies concurrently on two connections. `cut`: first on a connection that
 * is cut before the answer, then again.
 */
export type Delivery = 'once' | 'at once' | 'cut';

/** One step of a history. A history is played by one player, step by step. */
export type Step =
  | { readonly type: 'send'; readonly message: Message; readonly delivery: Delivery }
  /** Acknowledged messages, sent again. `isListed`: the player's transactions are compared as well. */
  | { readonly type: 'repeat'; readonly messages: readonly Message[]; readonly isListed: boolean }
  /** Waits until closed rounds have moved to the archive. */
  | { readonly type: 'pause'; readonly ms: number };

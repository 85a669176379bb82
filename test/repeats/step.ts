import type { Message } from '../../src/tools/simulate/message.js';

/**
 * The way a new message reaches the server. `at once`: in two copies on two connections. `cut`: once on a connection
 * that is cut before the answer, then again.
 */
export type Delivery = 'once' | 'at once' | 'cut';

/** One step of a history. One player plays a history, one step after the other. */
export type Step =
  | { readonly type: 'send'; readonly message: Message; readonly delivery: Delivery }
  /** Acknowledged messages, sent again. `isListed`: the player's transactions are compared as well. */
  | { readonly type: 'repeat'; readonly messages: readonly Message[]; readonly isListed: boolean }
  /** Lets closed rounds leave for the archive. */
  | { readonly type: 'pause'; readonly ms: number };

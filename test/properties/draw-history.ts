import type { Element, Message } from '../../src/simulate/message.js';
import { MessageDrawer } from '../repeats/draw-message.js';
import type { Random } from '../simulation/random.js';

const LEAST = 5;
const MOST = 40;
const IDS = ['id', 'roundId', 'refId'];
/** Offset between the request numbers of two drawers, so that their request ids differ. */
const NUMBERS_APART = 1000;

/** Draws new messages of one player, in the same way as the search for repeats does. */
export function drawHistory(random: Random, most = MOST): Message[] {
  const drawer = new MessageDrawer(random.fork());
  return Array.from({ length: LEAST + random.below(most - LEAST) }, () => drawer.next());
}

/** Copies the messages with unique ids, rounds and requests. */
export function elsewhere(messages: readonly Message[], suffix: string): Message[] {
  return messages.map((message) => ({
    ...message,
    number: message.number + NUMBERS_APART,
    txns: message.txns.map((txn) => renamed(txn, suffix)),
  }));
}

function renamed(txn: Element, suffix: string): Element {
  const names = IDS.flatMap((field) => (typeof txn[field] === 'string' ? [[field, `${txn[field]}${suffix}`]] : []));
  return { ...txn, ...Object.fromEntries(names) };
}

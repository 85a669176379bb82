import { atOnce, cut, type Step } from '../case.js';
import type { Element, Message } from '../message.js';
import { but } from '../platform.js';
import type { Action } from './arbitrary-actions.js';

const ANY = 'any order';

/** Converts actions to steps. Leaves out an action that refers to an earlier message that does not exist. */
export function historyOf(actions: readonly Action[]): Step[] {
  const past: Message[] = [];
  const steps: Step[] = [];
  for (const action of actions) {
    const earlier = earlierOf(action, past);
    const sent = sentBy(action, earlier);
    if (sent.length === 0) continue;
    past.push(...sent);
    const [first] = sent as [Message];
    steps.push([sent.length > 1 ? atOnce(...sent) : action.type === 'cut' ? cut(first) : first, ANY]);
  }
  return steps;
}

/**
 * Finds the earlier message of an action. Counts back from the end, or from the start for an old message, so that the
 * message stays the same when the history is shrunk.
 */
function earlierOf(action: Action, past: readonly Message[]): Message | undefined {
  if (action.type === 'old') return past[action.nth];
  return 'back' in action ? past.at(-action.back) : undefined;
}

function sentBy(action: Action, earlier: Message | undefined): readonly Message[] {
  switch (action.type) {
    case 'send':
    case 'cut':
      return [action.message];
    case 'again':
    case 'old':
      return earlier === undefined ? [] : [earlier];
    case 'vary':
      return earlier === undefined || !isChangeable(earlier, action.change) ? [] : [but(earlier, action.change)];
    case 'at-once':
      return earlier === undefined ? action.messages : [earlier, ...action.messages];
  }
}

/** True if all elements have the field and remain valid after the change. */
function isChangeable({ txns }: Message, change: Element): boolean {
  const [field] = Object.keys(change) as [string];
  return txns.length > 0 && txns.every((txn) => field in txn);
}

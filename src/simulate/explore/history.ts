import { atOnce, cut, type Step } from '../case.js';
import type { Element, Message } from '../message.js';
import { but } from '../platform.js';
import type { Move } from './arbitrary-moves.js';

const ANY = 'any order';

/** Converts actions to steps. Leaves out an action that refers to an earlier message that does not exist. */
export function historyOf(moves: readonly Move[]): Step[] {
  const past: Message[] = [];
  const steps: Step[] = [];
  for (const move of moves) {
    const earlier = earlierOf(move, past);
    const sent = sentBy(move, earlier);
    if (sent.length === 0) continue;
    past.push(...sent);
    const [first] = sent as [Message];
    steps.push([sent.length > 1 ? atOnce(...sent) : move.type === 'cut' ? cut(first) : first, ANY]);
  }
  return steps;
}

/**
 * Finds the earlier message of an action. Counts back from the end, or from the start for an old message, so that the
 * message stays the same when the history is shrunk.
 */
function earlierOf(move: Move, past: readonly Message[]): Message | undefined {
  if (move.type === 'old') return past[move.nth];
  return 'back' in move ? past.at(-move.back) : undefined;
}

function sentBy(move: Move, earlier: Message | undefined): readonly Message[] {
  switch (move.type) {
    case 'send':
    case 'cut':
      return [move.message];
    case 'again':
    case 'old':
      return earlier === undefined ? [] : [earlier];
    case 'vary':
      return earlier === undefined || !isChangeable(earlier, move.change) ? [] : [but(earlier, move.change)];
    case 'at-once':
      return earlier === undefined ? move.messages : [earlier, ...move.messages];
  }
}

/** True if all elements have the field and remain valid after the change. */
function isChangeable({ txns }: Message, change: Element): boolean {
  const [field] = Object.keys(change) as [string];
  return txns.length > 0 && txns.every((txn) => field in txn);
}

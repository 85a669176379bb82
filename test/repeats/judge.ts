import type { Message } from '../../src/simulate/message.js';
import { type Answer, describeAnswer, isAccepted } from './answer.js';
import type { Violation } from './violation.js';

/** Codes allowed for a repeat of a message whose effect was superseded: duplicate, cancelled, settled. */
const SUPERSEDED = [20002, 20003, 20004];

/** The violation in the answer to a repeat; undefined if the answer is right. */
export function judgeRepeat(message: Message, first: Answer, again: Answer): Violation | undefined {
  const detail = `first answered ${describeAnswer(first)}, now ${describeAnswer(again)}`;
  if (!isAccepted(again)) {
    if (SUPERSEDED.includes(again.statusCode)) return undefined;
    return { promised: 'a repeat is answered 0, 20002, 20003 or 20004', message, detail };
  }
  if (again.balanceBefore === first.balanceBefore && again.balanceAfter === first.balanceAfter) return undefined;
  return { promised: 'a repeat that is answered 0 has the first balances', message, detail };
}

/**
 * The violation in the balance change by a new message; undefined if there is none. An accepted message either changed
 * the balance as its answer says, or retries an earlier message under a different request id and changed nothing.
 */
export function judgeMove(message: Message, answer: Answer, before: number, after: number): Violation | undefined {
  const detail = `answered ${describeAnswer(answer)}, and the balance went from ${before} to ${after}`;
  if (!isAccepted(answer)) {
    if (after === before) return undefined;
    return { promised: 'a refusal leaves the balance alone', message, detail };
  }
  const isMove = answer.balanceBefore === before && answer.balanceAfter === after;
  if (isMove || after === before) return undefined;
  return { promised: 'a message moves the balance once, by its own balances', message, detail };
}

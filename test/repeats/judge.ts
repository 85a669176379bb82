import type { Message } from '../../src/tools/simulate/message.js';
import { type Answer, describeAnswer, isAccepted } from './answer.js';
import type { Violation } from './violation.js';

/** Codes that may answer the repeat of a message that no longer stands: duplicate, cancelled, settled. */
const SUPERSEDED = [20002, 20003, 20004];

/** The violation in the answer to a repeat; undefined when the answer is right. */
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
 * The violation in the change of the balance by a new message. An accepted message either moved the balance as its
 * answer says, or moved nothing because it retries an earlier message under another request id.
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

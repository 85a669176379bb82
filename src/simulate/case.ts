import type { Message } from './message.js';
import type { Platform } from './platform.js';
import type { RuleName } from './rules.js';

/**
 * One history that shows whether an operator obeys a rule. It is always played with a new player whose balance is
 * 1,000. If some messages are about a second player, that player is new, too, and has the same balance.
 */
export interface Case {
  readonly rule: RuleName;
  /** Expected outcome, as a sentence. */
  readonly name: string;
  readonly steps: (platform: Platform) => readonly Step[];
}

/**
 * A message, and the answer of an operator with walletd's default choices: the balance before and after, the balance
 * alone, or a refusal code. The judge derives the answer independently. The table states it for readers, and
 * test/simulate checks that both agree.
 */
export type Step = readonly [what: Message | Delivery, expected: Expected];
export type Expected = readonly [number, number] | readonly [number] | number | 'any order';

/** Messages of one player that are not sent one after another, and how they are sent instead. */
export interface Delivery {
  /**
   * `at-once`: all messages are sent before the first answer. `cut`: each message is sent, cut off before its answer,
   * and sent again.
   */
  readonly how: 'at-once' | 'cut';
  readonly messages: readonly Message[];
}

export const OPENING_BALANCE = 1000;

export function atOnce(...messages: readonly Message[]): Delivery {
  return { how: 'at-once', messages };
}

export function cut(message: Message): Delivery {
  return { how: 'cut', messages: [message] };
}

/** True if the step is about the second player of its history. */
export function isOfOther(step: Step): boolean {
  return messagesOf(step)[0]?.isOfOther === true;
}

export function messagesOf([what]: Step): readonly Message[] {
  return 'how' in what ? what.messages : [what];
}

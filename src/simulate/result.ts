import type { Deviation } from './play.js';
import type { RuleName } from './rules.js';

/**
 * Verdicts.
 *
 *   agrees    every answer is right
 *   differs   an answer is wrong
 *   unknown   the history could not be played to its end
 *   skipped   the profile or the run excludes the history
 *   known     a former report has the difference, or the unknown outcome, too
 */
export type Verdict = 'agrees' | 'differs' | 'unknown' | 'skipped' | 'known';

export interface Result {
  readonly rule: RuleName;
  readonly name: string;
  readonly verdict: Verdict;
  /** The reason why the history is unknown or skipped, or the fault in an answer with wrong fields. */
  readonly why?: string;
  readonly deviation?: Deviation;
  /** True if the history has ended the operator's process. */
  readonly isEnd?: true;
  /** Number of cases that show the fault, if it is a fault of the fields of answers. */
  readonly cases?: number;
  /** True if the history differs before the message that shows its rule. */
  readonly isSetUp?: true;
  readonly messages: number;
}

/** Returns the worst of these verdicts. */
export function verdictOf(results: readonly Pick<Result, 'verdict'>[]): Verdict {
  const worst = (['differs', 'unknown', 'known', 'agrees'] as const).find((one) =>
    results.some(({ verdict }) => verdict === one),
  );
  return worst ?? 'skipped';
}

import type { Result, Verdict } from './result.js';
import type { RuleName } from './rules.js';

/** Rules that all answers together obey or break, so that every case shows them. */
const OF_ALL_ANSWERS: readonly RuleName[] = ['served', 'shape'];

/** Rules and findings that a run need not report. */
export class Known {
  /** Verdicts of a former report other than agreement, by rule and name. */
  private readonly former = new Map<string, Verdict>();
  private readonly formerRules = new Set<RuleName>();

  constructor(
    /** Rules to report; empty to report all rules. */
    private readonly only: readonly RuleName[],
    private readonly ignored: readonly RuleName[],
    /** Results of a former report. */
    baseline: readonly FormerResult[],
  ) {
    for (const result of baseline) {
      if (result.verdict === 'agrees' || result.verdict === 'skipped') continue;
      this.former.set(keyOf(result), result.verdict);
      if (result.verdict !== 'unknown') this.formerRules.add(result.rule);
    }
  }

  /** True if the rule is reported. */
  reports(rule: RuleName): boolean {
    return (this.only.length === 0 || this.only.includes(rule)) && !this.ignored.includes(rule);
  }

  /** True if cases of this rule are needed for the report. */
  plays(rule: RuleName): boolean {
    return this.reports(rule) || OF_ALL_ANSWERS.some((one) => this.only.includes(one) && this.reports(one));
  }

  /** True if a random history or a round that breaks this rule is not reported. */
  passes(rule: RuleName): boolean {
    return !this.reports(rule) || this.formerRules.has(rule);
  }

  /** The results of the reported rules, in which those of the former report are marked as known. */
  mark(results: readonly Result[]): Result[] {
    return results
      .filter(({ rule }) => this.reports(rule))
      .map((result) => (this.isKnown(result) ? { ...result, verdict: 'known' } : result));
  }

  private isKnown(result: Result): boolean {
    const former = this.former.get(keyOf(result));
    if (former === undefined) return false;
    return result.verdict === 'unknown' || (result.verdict === 'differs' && former !== 'unknown');
  }
}

/** Nothing is known, so everything is reported. */
export const NOTHING_KNOWN = new Known([], [], []);

type FormerResult = Pick<Result, 'rule' | 'name' | 'verdict'>;

/** Parses the lines of a report that was written with `--json`. */
export function parseBaseline(text: string): FormerResult[] {
  return text
    .split('\n')
    .map((line, n) => (line.trim() === '' ? undefined : parseLine(line, n)))
    .filter((result) => result !== undefined);
}

function parseLine(line: string, n: number): FormerResult {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    value = undefined;
  }
  const { rule, name, verdict } = (value ?? {}) as Partial<Record<keyof FormerResult, unknown>>;
  if ([rule, name, verdict].some((field) => typeof field !== 'string')) {
    throw new Error(`line ${n + 1} is no result of simulate --json`);
  }
  return value as FormerResult;
}

function keyOf({ rule, name }: FormerResult): string {
  return `${rule}: ${name}`;
}

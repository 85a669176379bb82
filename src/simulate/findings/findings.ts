import { ruleOf } from '../explain.js';
import type { Result } from '../result.js';
import { RULES, type RuleName } from '../rules.js';
import { isAbout } from '../subject.js';
import { type Diagnosis, diagnose, shape } from './diagnosis.js';
import { HEADING_NAMES, type Heading } from './heading.js';

/** A cause, and all cases that show it. */
export interface Finding extends Diagnosis {
  readonly rule: RuleName;
  /** Question that the operator answers differently. Only under this heading. */
  readonly question?: string;
  /** The case with the shortest history. */
  readonly shortest: Result;
  /** Cases that show the cause. */
  readonly cases: readonly Result[];
  /** Cases that failed because of the cause, before they could show their own rule. */
  readonly followUps: readonly Result[];
}

/** A case that differs, and why. */
interface Diagnosed {
  readonly result: Result;
  readonly rule: RuleName;
  readonly diagnosis: Diagnosis;
}

/** Groups the results that differ by their causes. The worst findings come first. */
export function findingsOf(results: readonly Result[], decimals: number): Finding[] {
  const byCause = new Map<string, Diagnosed[]>();
  for (const result of results) {
    if (result.verdict !== 'differs') continue;
    const diagnosed = diagnosedOf(result, decimals);
    const { cause } = diagnosed.diagnosis;
    byCause.set(cause, [...(byCause.get(cause) ?? []), diagnosed]);
  }
  const findings = [...byCause.values()].map(findingOf);
  return findings.sort((one, other) => rankOf(one) - rankOf(other) || countOf(other) - countOf(one));
}

/** Returns the heading of the worst finding. */
export function worstHeading(findings: readonly Finding[]): Heading | undefined {
  return HEADING_NAMES.find((name) => findings.some(({ heading }) => heading === name));
}

/** Returns the cause of a result that differs. */
export function diagnosisOf(result: Result, decimals: number): Diagnosis {
  return diagnosedOf(result, decimals).diagnosis;
}

function diagnosedOf(result: Result, decimals: number): Diagnosed {
  const rule = shownRuleOf(result);
  return { result, rule, diagnosis: diagnosisBy(result, decimals) };
}

/** The rule that the wrong answer is about. It is not that of the case if another message of the case fails. */
function shownRuleOf({ rule, deviation, isSetUp }: Result): RuleName {
  const endpoint = deviation?.history.at(-1)?.endpoint;
  if (deviation === undefined || endpoint === undefined || rule === 'shape') return rule;
  return isSetUp || !isAbout(rule, endpoint) ? ruleOf(deviation) : rule;
}

function diagnosisBy({ isEnd, deviation, rule: given, name, why = name }: Result, decimals: number): Diagnosis {
  if (given === 'shape' && deviation?.unreadable === undefined) return shape(name);
  if (deviation === undefined) return { heading: 'interface', cause: `${given}: ${name}`, says: why };
  if (!isEnd) return diagnose(deviation, decimals);
  const codes = deviation.expected.map(({ code }) => code).join(' ');
  const says = why.replace('this request', deviation.history.at(-1)?.endpoint ?? 'this request');
  return { heading: 'crash', cause: `crash: ${codes} ${says}`, says };
}

function findingOf(diagnosed: readonly Diagnosed[]): Finding {
  const direct = diagnosed.filter(({ result }) => !result.isSetUp);
  const [first] = diagnosed as readonly [Diagnosed];
  // Without a case of its own, the first case that failed shows the cause.
  const shown = direct.length > 0 ? direct : [first];
  const own = shown.filter(isOfOwnRule);
  const shortest = (own.length > 0 ? own : shown).reduce((best, one) => (lengthOf(one) < lengthOf(best) ? one : best));
  const { heading } = shortest.diagnosis;
  return {
    ...shortest.diagnosis,
    rule: shortest.rule,
    ...(heading === 'decision' && { question: RULES[shortest.rule].question }),
    shortest: shortest.result,
    cases: shown.map(({ result }) => result),
    followUps: diagnosed.filter((one) => !shown.includes(one)).map(({ result }) => result),
  };
}

/** True if the rule is the one that the last message suggests, so that readers expect the fault there. */
function isOfOwnRule({ result: { deviation }, rule }: Diagnosed): boolean {
  return deviation !== undefined && ruleOf(deviation) === rule;
}

/** Number of cases that show the cause. */
export function countOf({ cases }: Finding): number {
  return cases.reduce((sum, result) => sum + (result.cases ?? 1), 0);
}

function lengthOf({ result }: Diagnosed): number {
  return result.deviation?.history.length ?? 0;
}

function rankOf({ heading }: Finding): number {
  return HEADING_NAMES.indexOf(heading);
}

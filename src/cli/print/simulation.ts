import { curlLines, historyLines } from '../../simulate/explain.js';
import type { Explored } from '../../simulate/explore/explore.js';
import { countOf, diagnosisOf, type Finding, findingsOf } from '../../simulate/findings/findings.js';
import { HEADING_NAMES, HEADINGS } from '../../simulate/findings/heading.js';
import { lossOf } from '../../simulate/findings/loss.js';
import type { Profile } from '../../simulate/profile.js';
import { type Result, type Verdict, verdictOf } from '../../simulate/result.js';
import { RULE_NAMES, RULES } from '../../simulate/rules.js';
import type { Soaked } from '../../simulate/soak/soak.js';
import { plural } from './format.js';
import { printable } from './printable.js';
import { formatTable } from './table.js';

/** Number of findings to print with their histories. The report files contain all of them. */
const FULL_FINDINGS_MAX = 10;
/** Number of cases to name for a finding. */
const CASES_MAX = 3;
const UNKNOWN_MAX = 10;

/** Prints a table of the rules, and then the findings under their headings. */
export function simulationText(results: readonly Result[], url: string, profile: Profile): string {
  const findings = findingsOf(results, profile.decimals);
  const parts = [ruleTable(results), ...findingsText(findings, url, profile), ...unknownText(results)];
  return [...parts, summary(results, findings)].join('\n\n');
}

/** Prints the first finding of each heading before a second one of any heading takes its place. */
function findingsText(findings: readonly Finding[], url: string, profile: Profile): string[] {
  const isFull = new Set(firstOfEach(findings).slice(0, FULL_FINDINGS_MAX));
  const parts = HEADING_NAMES.flatMap((heading) => {
    const own = findings.filter((one) => one.heading === heading);
    if (own.length === 0) return [];
    const { title, says } = HEADINGS[heading];
    const full = own.filter((one) => isFull.has(one)).map((one) => findingText(one, url, profile));
    const short = own.filter((one) => !isFull.has(one)).map((one) => `  ${printable(one.says)}: ${casesText(one)}`);
    return [`${title.toUpperCase()}: ${says}`, ...full, ...(short.length > 0 ? [short.join('\n')] : [])];
  });
  return findings.length > isFull.size ? [...parts, '--html FILE has the histories of all findings'] : parts;
}

function firstOfEach(findings: readonly Finding[]): Finding[] {
  const isFirst = (one: Finding) => one === findings.find(({ heading }) => heading === one.heading);
  return [...findings.filter(isFirst), ...findings.filter((one) => !isFirst(one))];
}

/** Formats a case as JSON. */
export function resultJson(result: Result, url: string, profile: Profile): object {
  const { rule, name, verdict, why, deviation, isSetUp } = result;
  const detail = deviation && { history: historyLines(deviation, profile.decimals), curl: curlLines(deviation, url) };
  const { heading, cause, says } = verdict === 'differs' ? diagnosisOf(result, profile.decimals) : {};
  return {
    ...{ rule, place: RULES[rule].place, name, verdict, ...(why !== undefined && { why }) },
    ...(heading !== undefined && { heading, cause, says, isFollowUp: isSetUp === true }),
    ...detail,
  };
}

export function exploredText({ histories, messages, seconds, passed }: Explored, seed: number): string {
  const rate = Math.round(messages / seconds);
  return `seed ${seed}: ${histories} histories, ${messages} messages in ${seconds.toFixed(1)} s, ${rate} a second${passedText(passed, 'histories')}`;
}

function passedText(passed: number, what: string): string {
  return passed === 0 ? '' : `; ${passed} ${what} ended at a known rule`;
}

export function soakedText({ latencies, seconds, dropped, passed }: Soaked, rate: number): string {
  const row = (name: string, ms: number) => [name, ms.toFixed(ms < 10 ? 2 : 0)];
  const rows = [50, 90, 99, 99.9].map((percent) => row(`${percent} %`, latencies.percentileMs(percent)));
  const sent = `${latencies.count} answers in ${seconds.toFixed(1)} s, ${Math.round(latencies.count / seconds)} a second of ${rate}${passedText(passed, 'players')}`;
  const late = dropped === 0 ? [] : [`${dropped} messages were not sent: the operator did not keep up`];
  return [sent, ...late, '', formatTable(['', { right: 'ms' }], [...rows, row('max', latencies.maxMs)])].join('\n');
}

function ruleTable(results: readonly Result[]): string {
  const rows = RULE_NAMES.flatMap((rule) => {
    const ofRule = results.filter((one) => one.rule === rule);
    if (ofRule.length === 0) return [];
    const good = ofRule.filter(({ verdict }) => verdict === 'agrees').length;
    return [[verdictOf(ofRule), `${good}/${ofRule.length}`, RULES[rule].title, RULES[rule].place]];
  });
  return formatTable(['', { right: 'cases' }, 'rule', 'written in'], rows);
}

function findingText(finding: Finding, url: string, profile: Profile): string {
  const { says, question, rule, shortest } = finding;
  const { title, place } = RULES[rule];
  const loss = lossOf(finding, profile);
  const head = [
    `* ${printable(says)}`,
    ...(question === undefined ? [] : [`  Question: ${question}`]),
    `  Rule: ${title} (${place})`,
    ...(loss === undefined ? [] : [`  ${loss}`]),
    `  Shown by ${casesText(finding)}`,
  ];
  const { deviation } = shortest;
  if (deviation === undefined) return head.join('\n');
  const history = historyLines(deviation, profile.decimals).flatMap((line) => line.split('\n').map(printable));
  const lines = [...history, '', ...curlLines(deviation, url)].map((line) => `    ${line}`.trimEnd());
  return [...head, ...lines].join('\n');
}

function casesText(finding: Finding): string {
  const { cases, followUps } = finding;
  // A fault of the fields has no case of its own.
  const named = namesText(cases.filter(({ rule }) => rule !== 'shape'));
  const shown = `${plural(countOf(finding), 'case')}${named}`;
  if (followUps.length === 0) return printable(shown);
  return printable(
    `${shown}; for the same reason ${plural(followUps.length, 'case')} failed early${namesText(followUps)}`,
  );
}

function namesText(results: readonly Result[]): string {
  if (results.length === 0) return '';
  const more = results.length > CASES_MAX ? [`${results.length - CASES_MAX} more`] : [];
  return `: ${[...results.slice(0, CASES_MAX).map(({ name }) => `"${name}"`), ...more].join(', ')}`;
}

/** Prints each reason once, however many cases share it. */
function unknownText(results: readonly Result[]): string[] {
  const whys = new Set(
    results.flatMap(({ verdict, why }) => (verdict === 'unknown' && why !== undefined ? [why] : [])),
  );
  if (whys.size === 0) return [];
  return [['CANNOT KNOW', ...[...whys].slice(0, UNKNOWN_MAX).map((why) => `  ${printable(why)}`)].join('\n')];
}

function summary(results: readonly Result[], findings: readonly Finding[]): string {
  const count = (verdict: Verdict) => results.filter((one) => one.verdict === verdict).length;
  const messages = results.reduce((sum, one) => sum + one.messages, 0);
  const counts = [
    `${count('agrees')} agree`,
    `${count('differs')} differ`,
    `${count('unknown')} unknown`,
    `${count('skipped')} skipped`,
    ...(count('known') > 0 ? [`${count('known')} known`] : []),
  ];
  const cases = `${results.length} cases, ${messages} messages: ${counts.join(', ')}`;
  if (findings.length === 0) return cases;
  const headings = HEADING_NAMES.flatMap((heading) => {
    const count = findings.filter((one) => one.heading === heading).length;
    return count === 0 ? [] : [`${count} ${HEADINGS[heading].short}`];
  });
  return `${plural(findings.length, 'finding')}: ${headings.join(', ')}\n${cases}`;
}

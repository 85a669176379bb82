import { curlLines, historyLines } from '../../simulate/explain.js';
import type { Explored } from '../../simulate/explore/explore.js';
import type { Profile } from '../../simulate/profile.js';
import { type Result, type Verdict, verdictOf } from '../../simulate/result.js';
import { RULE_NAMES, RULES } from '../../simulate/rules.js';
import type { Soaked } from '../../simulate/soak/soak.js';
import { printable } from './printable.js';
import { formatTable } from './table.js';

/** Number of deviations to print in full. The report files contain all deviations. */
const FULL_DEVIATIONS_MAX = 10;

/** Prints a table of the rules, and then each deviation. */
export function simulationText(results: readonly Result[], url: string, profile: Profile): string {
  const differing = results.filter(({ verdict }) => verdict === 'differs');
  // A request that ends the operator's process comes first.
  const told = [...differing.filter(isEnd), ...oneOfEachRuleFirst(differing.filter((result) => !isEnd(result)))];
  const parts = [
    ruleTable(results),
    ...told.slice(0, FULL_DEVIATIONS_MAX).map((result) => deviationText(result, url, profile)),
    ...(told.length > FULL_DEVIATIONS_MAX
      ? [`... and ${told.length - FULL_DEVIATIONS_MAX} more: --html FILE has all of them`]
      : []),
    ...unknownText(results),
    summary(results),
  ];
  return parts.join('\n\n');
}

/**
 * Puts the first deviation of each rule first. Further deviations of the same rule add little, and must not push other
 * rules out of the output.
 */
function oneOfEachRuleFirst(results: readonly Result[]): Result[] {
  const first = new Map(results.toReversed().map((result) => [result.rule, result]));
  const isFirst = (result: Result) => first.get(result.rule) === result;
  return [...results.filter(isFirst), ...results.filter((result) => !isFirst(result))];
}

function isEnd(result: Result): boolean {
  return result.isEnd === true;
}

/** Formats a case as JSON. */
export function resultJson({ rule, name, verdict, why, deviation }: Result, url: string, profile: Profile): object {
  const told = deviation && { history: historyLines(deviation, profile.decimals), curl: curlLines(deviation, url) };
  return { rule, place: RULES[rule].place, name, verdict, ...(why !== undefined && { why }), ...told };
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

function deviationText({ rule, name, why, deviation }: Result, url: string, profile: Profile): string {
  const { title, place } = RULES[rule];
  const head = [`DIFFERS  ${title} (${place})`, `  ${name}`, ...(why === undefined ? [] : [`  ${why}`])];
  if (deviation === undefined) return head.join('\n');
  const history = historyLines(deviation, profile.decimals).flatMap((line) => line.split('\n').map(printable));
  const lines = [...history, '', ...curlLines(deviation, url)].map((line) => `    ${line}`.trimEnd());
  return [...head, ...lines].join('\n');
}

/** Prints each reason once, however many cases share it. */
function unknownText(results: readonly Result[]): string[] {
  const whys = new Set(
    results.flatMap(({ verdict, why }) => (verdict === 'unknown' && why !== undefined ? [why] : [])),
  );
  if (whys.size === 0) return [];
  return [['CANNOT KNOW', ...[...whys].slice(0, FULL_DEVIATIONS_MAX).map((why) => `  ${printable(why)}`)].join('\n')];
}

function summary(results: readonly Result[]): string {
  const count = (verdict: Verdict) => results.filter((one) => one.verdict === verdict).length;
  const messages = results.reduce((sum, one) => sum + one.messages, 0);
  const counts = [
    `${count('agrees')} agree`,
    `${count('differs')} differ`,
    `${count('unknown')} unknown`,
    `${count('skipped')} skipped`,
    ...(count('known') > 0 ? [`${count('known')} known`] : []),
  ];
  return `${results.length} cases, ${messages} messages: ${counts.join(', ')}`;
}

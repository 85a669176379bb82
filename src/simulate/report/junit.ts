import { curlLines, historyLines } from '../explain.js';
import { diagnosisOf } from '../findings/findings.js';
import { HEADING_NAMES, HEADINGS } from '../findings/heading.js';
import type { Profile } from '../profile.js';
import type { Result } from '../result.js';
import { RULES } from '../rules.js';
import { escaped } from './escaped.js';

const NAME = 'walletd simulate';

/**
 * Formats the results as JUnit XML, which CI systems read. Each case is a test, and each rule a class. The cases that
 * differ are in one suite for each heading, and all others in the first suite. A follow-up counts as skipped.
 */
export function junitOf(results: readonly Result[], url: string, profile: Profile): string {
  const headings = results.map((result) =>
    result.verdict === 'differs' ? diagnosisOf(result, profile.decimals).heading : undefined,
  );
  const suites = [undefined, ...HEADING_NAMES].flatMap((heading) => {
    const own = results.filter((_, n) => headings[n] === heading);
    if (own.length === 0 && heading !== undefined) return [];
    const name = heading === undefined ? NAME : `${NAME}: ${HEADINGS[heading].title}`;
    const cases = own.map((result) => testCase(result, url, profile));
    return [`<testsuite name="${escaped(name)}" ${countsOf(own)}>`, ...cases, '</testsuite>'];
  });
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>', `<testsuites ${countsOf(results)}>`, ...suites];
  return [...lines, '</testsuites>', ''].join('\n');
}

function countsOf(results: readonly Result[]): string {
  const count = (is: (result: Result) => boolean) => results.filter(is).length;
  const failures = count((result) => result.verdict === 'differs' && !result.isSetUp);
  const errors = count(({ verdict }) => verdict === 'unknown');
  const passed = count(({ verdict }) => verdict === 'agrees');
  const skipped = results.length - failures - errors - passed;
  return `tests="${results.length}" failures="${failures}" errors="${errors}" skipped="${skipped}"`;
}

function testCase(result: Result, url: string, profile: Profile): string {
  const { rule, name } = result;
  const body = outcome(result, url, profile);
  const head = `<testcase classname="${escaped(`${rule}: ${RULES[rule].title}`)}" name="${escaped(name)}"`;
  return body === '' ? `${head}/>` : `${head}>${body}</testcase>`;
}

function outcome(result: Result, url: string, profile: Profile): string {
  const { verdict, why, deviation, rule, isSetUp } = result;
  const message = escaped(why ?? `${RULES[rule].title} (${RULES[rule].place})`);
  switch (verdict) {
    case 'agrees':
      return '';
    case 'skipped':
      return `<skipped message="${message}"/>`;
    case 'known':
      return `<skipped message="known: ${message}"/>`;
    case 'unknown':
      return `<error message="${message}"/>`;
    case 'differs': {
      const { heading, says } = diagnosisOf(result, profile.decimals);
      if (isSetUp) return `<skipped message="${escaped(`follow-up: ${says}`)}"/>`;
      const head = `<failure type="${heading}" message="${escaped(says)}"`;
      if (deviation === undefined) return `${head}/>`;
      const text = [...historyLines(deviation, profile.decimals), '', ...curlLines(deviation, url)].join('\n');
      return `${head}>${escaped(text)}</failure>`;
    }
  }
}

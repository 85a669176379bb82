import { curlLines, historyLines } from '../explain.js';
import type { Profile } from '../profile.js';
import type { Result } from '../result.js';
import { RULES } from '../rules.js';
import { escaped } from './escaped.js';

/** Formats the results as JUnit XML, which CI systems read. Each case is a test, and each rule a class. */
export function junitOf(results: readonly Result[], url: string, profile: Profile): string {
  const count = (verdict: Result['verdict']) => results.filter((one) => one.verdict === verdict).length;
  const counts = `tests="${results.length}" failures="${count('differs')}" errors="${count('unknown')}" skipped="${count('skipped') + count('known')}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `<testsuite name="walletd simulate" ${counts}>`,
    ...results.map((result) => testCase(result, url, profile)),
    '</testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function testCase(result: Result, url: string, profile: Profile): string {
  const { rule, name } = result;
  const body = outcome(result, url, profile);
  const head = `<testcase classname="${escaped(`${rule}: ${RULES[rule].title}`)}" name="${escaped(name)}"`;
  return body === '' ? `${head}/>` : `${head}>${body}</testcase>`;
}

function outcome({ verdict, why, deviation, rule }: Result, url: string, profile: Profile): string {
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
      if (deviation === undefined) return `<failure message="${message}"/>`;
      const text = [...historyLines(deviation, profile.decimals), '', ...curlLines(deviation, url)].join('\n');
      return `<failure message="${message}">${escaped(text)}</failure>`;
    }
  }
}

import { curlLines, historyLines } from '../explain.js';
import { countOf, diagnosisOf, type Finding, findingsOf } from '../findings/findings.js';
import { HEADING_NAMES, HEADINGS, type Heading } from '../findings/heading.js';
import { CALLBACKS, COMPUTED, costOf, lossOf, totalLossOf } from '../findings/loss.js';
import type { Profile } from '../profile.js';
import { type Result, verdictOf } from '../result.js';
import { RULE_NAMES, RULES, type RuleName } from '../rules.js';
import { escapedText as escaped } from './escaped.js';
import { STYLE } from './style.js';

/** Larger pages are refused by some mail servers and trackers. Histories beyond this size are left out. */
const BYTES_MAX = 190_000;
/** Number of cases to name in a finding. The list of rules has all of them. */
const CASES_MAX = 5;
const LEFT_OUT = '<p>This page leaves out the history because of its size. The output of --json has it.</p>';
/** Stands for the history of a finding until the size of the rest of the page is known. */
const HISTORY = '\u0000';

/** Formats the results as one self-contained page: a summary, the findings under their headings, and all cases. */
export function htmlOf(results: readonly Result[], url: string, profile: Profile): string {
  const findings = findingsOf(results, profile.decimals);
  const [head = '', ...parts] = pageOf(results, findings, url, profile).split(HISTORY);
  let left = BYTES_MAX - [head, ...parts].reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  return parts.reduce((page, part, n) => {
    const history = historyOf(findings[n] as Finding, url, profile);
    const isShort = Buffer.byteLength(history) <= left;
    if (isShort) left -= Buffer.byteLength(history);
    return page + (isShort ? history : LEFT_OUT) + part;
  }, head);
}

function pageOf(results: readonly Result[], findings: readonly Finding[], url: string, profile: Profile): string {
  const verdict = verdictOf(results);
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escaped(url)}: ${verdict}</title><style>${STYLE}</style></head>
<body>
<h1>${escaped(url)}: <span class="${verdict}">${verdict}</span></h1>
${summaryOf(results, findings, profile)}
${HEADING_NAMES.map((heading) => headingSection(heading, findings, profile)).join('')}${unknownSection(results)}
<h2>All cases</h2>
${RULE_NAMES.map((rule) => ruleSection(rule, results, profile)).join('')}
<details><summary>Profile</summary><pre>${escaped(JSON.stringify(profile, undefined, 2))}</pre></details>
</body>
</html>
`;
}

function summaryOf(results: readonly Result[], findings: readonly Finding[], profile: Profile): string {
  const count = (verdict: Result['verdict']) => results.filter((one) => one.verdict === verdict).length;
  const rows = HEADING_NAMES.map((heading) => {
    const own = findings.filter((one) => one.heading === heading).length;
    const { title, says } = HEADINGS[heading];
    const link = own === 0 ? escaped(title) : `<a href="#${heading}">${escaped(title)}</a>`;
    return `<tr><td class="${own === 0 ? 'agrees' : 'differs'}">${own}</td><td>${link}</td><td>${escaped(says)}</td></tr>`;
  });
  const loss = totalLossOf(findings, profile);
  const money = loss === undefined ? '' : `<p><b>${escaped(loss)}</b> ${escaped(COMPUTED)}</p>`;
  const [agree, unknown, skipped] = [count('agrees'), count('unknown'), count('skipped') + count('known')];
  return `${money}<table>
<thead><tr><th>findings</th><th>heading</th><th>meaning</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>
<p>Of ${results.length} cases, ${agree} agree, ${count('differs')} differ, ${unknown} could not be decided, and ${skipped} were skipped or known. Cases that differ for one reason are one finding.</p>`;
}

function headingSection(heading: Heading, findings: readonly Finding[], profile: Profile): string {
  const own = findings.filter((one) => one.heading === heading);
  if (own.length === 0) return '';
  const items = own.map((finding) => findingItem(finding, profile)).join('\n');
  return `<h2 id="${heading}">${escaped(HEADINGS[heading].title)}</h2>\n${items}\n`;
}

function findingItem(finding: Finding, profile: Profile): string {
  const { says, question, rule, cases, followUps } = finding;
  const { title, place } = RULES[rule];
  const count = countOf(finding);
  const loss = lossOf(finding, profile);
  const lines = [
    ...(question === undefined ? [] : [`<b>${escaped(question)}</b>`]),
    ...(loss === undefined ? [] : [escaped(loss)]),
    `Rule: ${escaped(title)} (${escaped(place)}).`,
    ...(rule === 'shape' ? [] : [`Shown by ${namesOf(cases)}.`]),
    ...(followUps.length === 0 ? [] : [`Follow-ups, which failed early for the same reason: ${namesOf(followUps)}.`]),
  ];
  const cost = costOf(finding, profile);
  const costs = cost === undefined ? '' : `; ${CALLBACKS} callbacks cost ${cost}`;
  const counted = `${count} ${count === 1 ? 'case' : 'cases'}${costs}`;
  const head = `<summary>${escaped(says)} <small>${escaped(counted)}</small></summary>`;
  return `<details>${head}<p>${lines.join('<br>')}</p>${HISTORY}</details>`;
}

/** The shortest history, as a script for a shell. */
function historyOf({ shortest: { deviation } }: Finding, url: string, profile: Profile): string {
  if (deviation === undefined) return '';
  const expected = historyLines(deviation, profile.decimals).at(-1)?.trim();
  return `<pre>${escaped([...curlLines(deviation, url), `# ${expected}`].join('\n'))}</pre>`;
}

function namesOf(results: readonly Result[]): string {
  const names = results.slice(0, CASES_MAX).map(({ name }) => `“${escaped(name)}”`);
  const more = results.length > CASES_MAX ? [`${results.length - CASES_MAX} more`] : [];
  return [...names, ...more].join(', ');
}

/** Each reason once, however many cases share it. */
function unknownSection(results: readonly Result[]): string {
  const whys = results.flatMap(({ verdict, why }) => (verdict === 'unknown' && why !== undefined ? [why] : []));
  if (whys.length === 0) return '';
  const items = [...new Set(whys)].map((why) => {
    return `<li>${escaped(why)} <small>${whys.filter((one) => one === why).length}</small></li>`;
  });
  return `<h2>Not decided</h2>\n<ul>${items.join('\n')}</ul>`;
}

function ruleSection(rule: RuleName, results: readonly Result[], profile: Profile): string {
  const own = results.filter((one) => one.rule === rule);
  if (own.length === 0) return '';
  const { title, place } = RULES[rule];
  const verdict = verdictOf(own);
  const good = own.filter((one) => one.verdict === 'agrees').length;
  const items = own.map((result) => caseItem(result, profile)).join('\n');
  const head = `<span class="${verdict}">${verdict}</span> ${escaped(title)} <small>${escaped(place)}; ${good} of ${own.length}</small>`;
  return `<details><summary>${head}</summary><ul>\n${items}\n</ul></details>\n`;
}

function caseItem(result: Result, profile: Profile): string {
  const { name, verdict, why, isSetUp } = result;
  const reason = verdict === 'differs' ? diagnosisOf(result, profile.decimals).says : why;
  const says = reason === undefined || reason === name ? '' : `: ${isSetUp ? 'follow-up of ' : ''}${reason}`;
  return `<li><span class="${verdict}">${verdict}</span> ${escaped(name + says)}</li>`;
}

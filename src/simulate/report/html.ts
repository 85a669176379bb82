import { curlLines, historyLines } from '../explain.js';
import type { Profile } from '../profile.js';
import { type Result, verdictOf } from '../result.js';
import { RULE_NAMES, RULES, type RuleName } from '../rules.js';
import { escaped } from './escaped.js';

const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #ddd; vertical-align: top; }
.agrees { color: #17672e; } .differs { color: #b3261e; font-weight: 600; } .unknown { color: #8a5300; } .skipped, .known { color: #666; }
pre { background: #f5f5f5; padding: .8rem; overflow-x: auto; font-size: 12px; }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd; } pre { background: #262626; } td, th { border-color: #444; }
.agrees { color: #7bd88f; } .differs { color: #ff8a80; } .unknown { color: #ffca6a; } .skipped, .known { color: #999; } }
`;

/**
 * Formats the results as one self-contained page: a verdict for each rule, followed by its cases and all messages sent.
 */
export function htmlOf(results: readonly Result[], url: string, profile: Profile): string {
  const rules = RULE_NAMES.filter((rule) => results.some((one) => one.rule === rule));
  const of = (rule: RuleName) => results.filter((one) => one.rule === rule);
  const verdict = verdictOf(results);
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escaped(url)}: ${verdict}</title><style>${STYLE}</style></head>
<body>
<h1>${escaped(url)}: <span class="${verdict}">${verdict}</span></h1>
<table>
<thead><tr><th>rule</th><th>written in</th><th>verdict</th><th>cases</th></tr></thead>
<tbody>
${rules.map((rule) => ruleRow(rule, of(rule))).join('\n')}
</tbody>
</table>
${rules.map((rule) => ruleSection(rule, of(rule), url, profile)).join('\n')}
<h2>Profile</h2>
<pre>${escaped(JSON.stringify(profile, undefined, 2))}</pre>
</body>
</html>
`;
}

function ruleRow(rule: RuleName, results: readonly Result[]): string {
  const { title, place } = RULES[rule];
  const verdict = verdictOf(results);
  const good = results.filter((one) => one.verdict === 'agrees').length;
  return `<tr><td><a href="#${rule}">${escaped(title)}</a></td><td>${escaped(place)}</td><td class="${verdict}">${verdict}</td><td>${good} of ${results.length}</td></tr>`;
}

function ruleSection(rule: RuleName, results: readonly Result[], url: string, profile: Profile): string {
  const items = results.map((result) => caseItem(result, url, profile)).join('\n');
  return `<h2 id="${rule}">${escaped(RULES[rule].title)}</h2>\n<ul>\n${items}\n</ul>`;
}

function caseItem({ name, verdict, why, deviation }: Result, url: string, profile: Profile): string {
  const head = `<span class="${verdict}">${verdict}</span> ${escaped(name)}${why === undefined ? '' : `: ${escaped(why)}`}`;
  if (deviation === undefined) return `<li>${head}</li>`;
  const history = escaped(historyLines(deviation, profile.decimals).join('\n'));
  const curl = escaped(curlLines(deviation, url).join('\n'));
  return `<li>${head}<pre>${history}</pre><details><summary>with curl</summary><pre>${curl}</pre></details></li>`;
}

import type { Column } from '../../src/cli/print/table.js';
import { escapeHtml } from './chart.js';

const STYLE = `
:root { color-scheme: light dark; --back: #fff; --text: #1b1f24; --soft: #667; --line: #d8dce2;
  --s0: #1f6feb; --s1: #d9480f; --s2: #2b8a3e; --s3: #9c36b5; --s4: #b08900; --s5: #0b7285; }
@media (prefers-color-scheme: dark) { :root { --back: #14171c; --text: #e4e7eb; --soft: #9aa3ad; --line: #323842;
  --s0: #6ea8fe; --s1: #ff9b6b; --s2: #69db7c; --s3: #da9cf0; --s4: #ffd43b; --s5: #66d9e8; } }
body { background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
p { color: var(--soft); overflow-wrap: anywhere; }
.verdict { color: var(--text); max-width: 40rem; }
svg { display: block; width: 100%; max-width: 30rem; height: auto; overflow: visible; }
svg text { fill: var(--soft); font-size: 12px; }
/* Lines are drawn on top of their names, because a name that covers a line would hide measured values. */
svg .name { font-weight: 600; }
svg .grid { stroke: var(--line); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .7rem .15rem 0; text-align: left; white-space: pre; }
th { color: var(--soft); font-weight: normal; border-bottom: 1px solid var(--line); }
.right { text-align: right; }
.wide { overflow-x: auto; margin: 1rem 0; }
/* On a phone, a table scrolls horizontally and its first column stays visible. */
@media (max-width: 30rem) { .wide td:first-child { white-space: pre-wrap; position: sticky; left: 0; background: var(--back); } }
.facts td { white-space: normal; overflow-wrap: anywhere; vertical-align: top; }
.facts td:first-child { white-space: nowrap; }
.facts td:last-child { width: 100%; }
ul { color: var(--soft); padding-left: 1.2rem; }
`;

/** A page in a single self-contained file. */
export function page(title: string, content: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
<h1>${escapeHtml(title)}</h1>
${content.join('\n')}
</html>
`;
}

export function chapter(title: string, ...content: readonly string[]): string {
  return `<section>\n<h2>${escapeHtml(title)}</h2>\n${content.join('\n')}\n</section>`;
}

export function paragraph(text: string): string {
  return `<p>${escapeHtml(text)}</p>`;
}

/** A list of sentences; empty if there are none. */
export function list(sentences: readonly string[]): string {
  if (sentences.length === 0) return '';
  return `<ul>${sentences.map((sentence) => `<li>${escapeHtml(sentence)}</li>`).join('\n')}</ul>`;
}

/** List of names and values; the values may be long. */
export function facts(rows: readonly (readonly [name: string, value: string])[]): string {
  const lines = rows.map(([name, value]) => `<tr><td>${escapeHtml(name)}</td><td>${escapeHtml(value)}</td></tr>`);
  return `<table class="facts">${lines.join('\n')}</table>`;
}

/** A picture, with a heading and the verdict above it. */
export function figure(title: string, verdict: string, svg: string): string {
  return `<h3>${escapeHtml(title)}</h3>\n<p class="verdict">${escapeHtml(verdict)}</p>\n${svg}`;
}

export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const alignments = columns.map((column) => (typeof column === 'string' ? '' : ' class="right"'));
  const cells = (tag: string, values: readonly string[]) =>
    values.map((value, i) => `<${tag}${alignments[i]}>${escapeHtml(value)}</${tag}>`).join('');
  const head = columns.map((column) => (typeof column === 'string' ? column : column.right));
  const lines = [cells('th', head), ...rows.map((row) => cells('td', row))];
  return `<div class="wide"><table>${lines.map((line) => `<tr>${line}</tr>`).join('\n')}</table></div>`;
}

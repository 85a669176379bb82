import { readPage } from './pages.js';
import { readProse } from './prose.js';
import { breachesIn, forbiddenWords } from './words.js';

/**
 * Prints each breach of the wording rules below a path, and the number of breaches: `node dist/test/tidy/words-main.js
 * src/engine`.
 */
const prefixes = process.argv.slice(2);
const proses = readProse().filter(({ file }) => prefixes.length === 0 || prefixes.some((one) => file.startsWith(one)));
const breaches = breachesIn(proses, forbiddenWords(readPage('docs/glossary.md').text));
for (const { rule, found, prose } of breaches)
  console.log(`${prose.file}:${prose.line}: ${rule} "${found}": ${prose.text.slice(0, 160)}`);
for (const kind of ['comment', 'title', 'message'] as const) {
  const all = proses.filter((prose) => prose.kind === kind).length;
  const wrong = new Set(breaches.filter(({ prose }) => prose.kind === kind).map(({ prose }) => prose)).size;
  console.log(`${kind}s: ${wrong} of ${all} break a rule`);
}

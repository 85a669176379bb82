import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPage } from './pages.js';
import { commentsIn, namesIn, type Prose, readNames, readProse, titlesIn } from './prose.js';
import { breachesIn, forbiddenWords, wordsOf } from './words.js';

const TITLE_WORDS_MAX = 16;
const forbidden = forbiddenWords(readPage('docs/glossary.md').text);
const all = readProse();
/** Names that callers or stores use, which stay as they are. */
const PUBLIC = /\b(in flight|lanes|patience|troubles|concerns|tallies|pulse)\b/g;

test('pronoun openings, long titles and house words are found', () => {
  const source = [
    '/** Of a shard: what it holds. */',
    'const a = 1; // the heir',
    '// So that it fits',
    '// over two lines.',
    "test('a b c d e f g h i j k l m n o', () => {});",
  ].join('\n');
  const proses = [...commentsIn('planted.ts', source), ...titlesIn('planted.ts', source)];
  assert.deepEqual(
    breachesIn(proses, ['heir']).map(({ rule, found, prose }) => [rule, found, prose.line]),
    [
      ['opening', 'Of', 1],
      ['house word', 'heir', 2],
      ['opening', 'So', 3],
      ['long title', '15 words', 5],
    ],
  );
  assert.equal(commentsIn('planted.ts', source)[2]?.text, 'So that it fits over two lines.');
});

test('the glossary lists the forbidden words', () => {
  assert.ok(forbidden.length > 20 && forbidden.includes('whoever'), forbidden.join());
});

function rulesOf(kind: Prose['kind'], rule: string): { readonly breaches: string[]; readonly count: number } {
  const proses = all.filter((prose) => prose.kind === kind);
  const breaches = breachesIn(proses, forbidden).filter((breach) => breach.rule === rule);
  return { breaches: breaches.map(({ found, prose }) => `${prose.file}:${prose.line} ${found}`), count: proses.length };
}

test('prose is extracted from all sources', () => {
  for (const kind of ['comment', 'title', 'message'] as const) assert.ok(rulesOf(kind, 'opening').count > 50, kind);
  assert.ok(all.some(({ kind, text }) => kind === 'title' && wordsOf(text) <= TITLE_WORDS_MAX));
});

test('comments open with the thing that they are about', () => {
  const { breaches, count } = rulesOf('comment', 'opening');
  assert.ok(breaches.length <= count / 100, breaches.join('\n'));
});

test('test titles are short', () => {
  const titles = all.filter(({ kind }) => kind === 'title');
  const long = titles.filter(({ text }) => wordsOf(text) > TITLE_WORDS_MAX);
  assert.ok(long.length <= titles.length / 50, long.map(({ file, line }) => `${file}:${line}`).join('\n'));
});

test('comments, titles and log lines use no house word', () => {
  for (const kind of ['comment', 'title', 'message'] as const)
    assert.deepEqual(rulesOf(kind, 'house word').breaches, []);
});

test('names in the code use no house word', () => {
  const planted = namesIn('planted.ts', "const heirOf = 'whoever'; // the heir\n/* nobody */ sum(INFLIGHT_MAX);");
  assert.deepEqual(
    breachesIn(planted, ['heir', 'whoever', 'nobody']).map(({ found, prose }) => [found, prose.line]),
    [['heir', 1]],
  );
  const names = readNames().map((name) => ({ ...name, text: name.text.replace(PUBLIC, '') }));
  assert.ok(names.length > 100_000, `${names.length}`);
  const breaches = breachesIn(names, forbidden).map(({ found, prose }) => `${prose.file}:${prose.line} ${found}`);
  assert.deepEqual(breaches, []);
});

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { anchorsOf, type Page, proseOf, ROOT, readPage, readPages } from './pages.js';

const README_LINES_MAX = 200;
/** Maximum number of lines of a page in docs/. Split longer pages. */
const PAGE_LINES_MAX = 299;
/** The first paragraph of each page must mention one of these kinds of readers. */
const READERS = /\b(integrators?|operators?|developers?|auditors?|SREs?|security|everyone|engineers?|on call)\b/i;

const exists = (path: string) => existsSync(join(ROOT, path));
const linesOf = ({ text }: Page) => text.trimEnd().split('\n').length;

/** Links to a missing file or heading. */
function brokenLinks(page: Page): string[] {
  const targets = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets.filter((target) => {
    if (/^[a-z]+:/.test(target)) return false;
    const [file = '', anchor] = target.split('#');
    const path = file === '' ? page.path : normalize(join(dirname(page.path), file));
    if (path !== page.path && !exists(path)) return true;
    if (anchor === undefined) return false;
    return !anchorsOf(path === page.path ? page : readPage(path)).has(anchor);
  });
}

/** Files created by a build or a run, which a fresh clone does not have. */
const IGNORED = readFileSync(join(ROOT, '.gitignore'), 'utf8').split('\n');

/** Paths in backticks that do not exist. The path may be followed by a position or an item in the file. */
function brokenPaths({ text }: Page): string[] {
  const paths = [...text.matchAll(/`((?:src|test|bench|config|docs)\/[\w./-]*)/g)].map(([, path = '']) => path);
  return paths.filter((path) => !exists(path) && !IGNORED.includes(path));
}

/** Citations in this text of page sections that do not exist. A citation may span two lines of a comment. */
function brokenCitations(text: string): string[] {
  const unwrapped = text.replace(/\n\s*(\*|\/\/|#)?\s*/g, ' ');
  const citations = unwrapped.matchAll(/\b(callbacks|decisions|decisions-engineering)\.md section (\d+(?:\.\d+)?)/g);
  return [...citations].flatMap(([citation, page, section]) =>
    hasSection(`docs/${page}.md`, section) ? [] : [citation],
  );
}

function hasSection(path: string, section: string | undefined): boolean {
  return [...readPage(path).text.matchAll(/^#{2,4} (\d+(?:\.\d+)?)\.? /gm)].some(([, number]) => number === section);
}

function sources(): { file: string; text: string }[] {
  const folders = ['src', 'test', 'bench'].filter(exists);
  return folders.flatMap((folder) => {
    const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
    return files
      .filter((file) => /\.(ts|txt)$/.test(file))
      .map((file) => ({ file: `${folder}/${file}`, text: readFileSync(join(ROOT, folder, file), 'utf8') }))
      .filter(({ file }) => file !== 'test/tidy/pages.test.ts');
  });
}

test('a broken link, path or citation is found', () => {
  const page = (text: string) => ({ path: 'docs/planted.md', text });
  const links =
    '[a](nowhere.md) [b](#nothing) [c](../README.md#nothing) [d](../README.md#start) [e](https://a.b/c)\n# Here\n[f](#here)';
  assert.deepEqual(brokenLinks(page(links)), ['nowhere.md', '#nothing', '../README.md#nothing']);
  assert.deepEqual(brokenLinks(page('```\n[a](nowhere.md)\n```')), []);
  assert.deepEqual(brokenPaths(page('`src/gone.ts` `src/base/` `src/base/assert.ts:12` bench/gone')), ['src/gone.ts']);
  const comment = '/* docs/decisions.md section 3, decisions.md\n * section 77, callbacks.md section 2.4 */';
  assert.deepEqual(brokenCitations(comment), ['decisions.md section 77']);
});

test('every link in a page leads to an existing file and heading', () => {
  const pages = readPages();
  assert.ok(pages.length > 10, `${pages.length} pages`);
  for (const page of pages) assert.deepEqual(brokenLinks(page), [], page.path);
});

test('every path in backticks exists', () => {
  for (const page of readPages()) assert.deepEqual(brokenPaths(page), [], page.path);
});

test('every page section cited in the code exists', () => {
  const texts = sources();
  assert.ok(
    texts.filter(({ text }) => text.includes('decisions.md section')).length > 15,
    'the test sees the citations',
  );
  for (const { file, text } of texts) assert.deepEqual(brokenCitations(text), [], file);
});

test('the README links to every page in docs/', () => {
  const { text } = readPage('README.md');
  for (const { path } of readPages()) {
    if (path !== 'README.md') assert.ok(text.includes(`](${path})`), `${path} is not linked`);
  }
});

test('no page exceeds the line limit', () => {
  assert.ok(linesOf(readPage('README.md')) <= README_LINES_MAX, 'README.md');
  for (const page of readPages()) {
    if (page.path.startsWith('docs/'))
      assert.ok(linesOf(page) <= PAGE_LINES_MAX, `${page.path}: ${linesOf(page)} lines`);
  }
});

test('the first paragraph of a page names its readers', () => {
  for (const { path, text } of readPages()) {
    if (!path.startsWith('docs/')) continue;
    const [title = '', paragraph = ''] = text.split('\n\n');
    assert.match(title, /^# .+$/, path);
    assert.match(paragraph, /\bfor\b/i, path);
    assert.match(paragraph, READERS, path);
  }
});

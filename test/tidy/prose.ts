import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './pages.js';

/** A piece of English text in the sources or pages. */
export interface Prose {
  readonly kind: 'comment' | 'title' | 'message' | 'paragraph' | 'name';
  readonly file: string;
  /** The line number, starting at 1. */
  readonly line: number;
  /** The text on a single line, without comment markers. */
  readonly text: string;
}

const FOLDERS = ['src', 'bench', 'test'];
/** Files that contain the forbidden words, as examples or in the rules, and are not checked. */
const PLANTED: readonly string[] = ['test/tidy/words.test.ts', 'test/tidy/words.ts'];

/** TypeScript files of src, bench and test, relative to the project root. */
export function sourceFiles(): string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => `${folder}/${file}`),
  ).sort();
}

/** Comments in a source file: a block, or consecutive `//` lines. */
export function commentsIn(file: string, text: string): Prose[] {
  const comments: { line: number; parts: string[]; isOpen: boolean }[] = [];
  let block = false;
  for (const [index, source] of text.split('\n').entries()) {
    const line = source.trim();
    const last = comments.at(-1);
    if (block) {
      last?.parts.push(line.replace(/\*\/.*$/, '').replace(/^\*\s?/, ''));
      block = !line.includes('*/');
      continue;
    }
    if (line.startsWith('/*')) {
      block = !line.includes('*/');
      const part = line.replace(/^\/\*\*?/, '').replace(/\*\/.*$/, '');
      comments.push({ line: index + 1, parts: [part], isOpen: false });
    } else if (line.startsWith('//')) {
      const part = line.slice(2);
      if (last?.isOpen && last.line + last.parts.length === index + 1) last.parts.push(part);
      else comments.push({ line: index + 1, parts: [part], isOpen: true });
    } else {
      const [, trailing] = /[;,{(\])}] \/\/ (.+)$/.exec(line) ?? [];
      if (trailing !== undefined) comments.push({ line: index + 1, parts: [trailing], isOpen: false });
    }
  }
  return comments
    .map(({ line, parts }) => ({ kind: 'comment' as const, file, line, text: oneLine(parts.join(' ')) }))
    .filter(({ text }) => /[a-z]{2}/i.test(text) && !/^(biome-ignore|@ts-|eslint)/.test(text));
}

/** Titles of tests and suites. */
export function titlesIn(file: string, text: string): Prose[] {
  return matchesIn(
    file,
    text,
    'title',
    /\b(?:test|it|describe|suite)(?:\.skip|\.only)?\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g,
  );
}

const COMMENT_OR_STRING =
  /\/\*[\s\S]*?\*\/|(?<!:)\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;

/** Names in the code, each as the words that it consists of. */
export function namesIn(file: string, text: string): Prose[] {
  const code = text.replace(COMMENT_OR_STRING, (found) => found.replace(/[^\n]/g, ' '));
  return code.split('\n').flatMap((line, index) =>
    [...line.matchAll(/[A-Za-z_$][\w$]*/g)].map(([name]) => ({
      kind: 'name' as const,
      file,
      line: index + 1,
      text: name.replace(/([a-z\d])(?=[A-Z])|_/g, '$1 ').toLowerCase(),
    })),
  );
}

/** Message texts of log lines. */
export function messagesIn(file: string, text: string): Prose[] {
  const calls = text.matchAll(/\blog(?:ger)?\??\.(?:debug|info|warn|error)\(/gi);
  return [...calls].flatMap(({ index }) => {
    const call = callAt(text, index);
    const [, , message] = /(['"`])((?:\\.|(?!\1)[^\\])*)\1,?\s*\)$/.exec(call) ?? [];
    return message === undefined ? [] : [{ kind: 'message' as const, file, line: lineAt(text, index), text: message }];
  });
}

/**
 * The text of a call from its name to its closing bracket. Brackets in strings count as well, which works because they
 * are balanced in these sources.
 */
function callAt(text: string, start: number): string {
  let depth = 0;
  for (let at = text.indexOf('(', start); at < text.length; at++) {
    if (text[at] === '(') depth++;
    if (text[at] === ')' && --depth === 0) return text.slice(start, at + 1);
  }
  return text.slice(start);
}

/** Paragraphs, list items and table rows of a page, without code blocks, headings and table rules. */
export function paragraphsIn(file: string, text: string): Prose[] {
  const found: { line: number; parts: string[] }[] = [];
  let code = false;
  let ended = true;
  for (const [index, source] of text.split('\n').entries()) {
    const line = source.trim();
    if (line.startsWith('```')) code = !code;
    const starts = /^([-*|]|\d+\.) ?/.test(line);
    if (code || line === '' || line.startsWith('```') || line.startsWith('#') || /^[|: -]+$/.test(line)) ended = true;
    else if (ended || starts) {
      found.push({ line: index + 1, parts: [line] });
      ended = line.startsWith('|');
    } else found.at(-1)?.parts.push(line);
  }
  return found.map(({ line, parts }) => ({ kind: 'paragraph' as const, file, line, text: oneLine(parts.join(' ')) }));
}

function matchesIn(file: string, text: string, kind: Prose['kind'], pattern: RegExp): Prose[] {
  return [...text.matchAll(pattern)].map(({ index, 2: found = '' }) => ({
    kind,
    file,
    line: lineAt(text, index),
    text: oneLine(found),
  }));
}

const lineAt = (text: string, index: number) => text.slice(0, index).split('\n').length;
const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

/** All prose, in file order. */
export function readProse(): Prose[] {
  const files = sourceFiles().filter((file) => !PLANTED.includes(file));
  return files.flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    const titles = /\.(test|long|fault)\.tsx?$/.test(file) ? titlesIn(file, text) : [];
    return [...commentsIn(file, text), ...titles, ...(file.startsWith('src/') ? messagesIn(file, text) : [])];
  });
}

/** All names in the code, in file order. */
export function readNames(): Prose[] {
  return sourceFiles().flatMap((file) =>
    PLANTED.includes(file) ? [] : namesIn(file, readFileSync(join(ROOT, file), 'utf8')),
  );
}

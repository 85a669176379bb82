import type { Prose } from './prose.js';

/**
 * Words that hide a sentence's subject. A determiner before a noun ("this shard", "that day") also counts; name the
 * thing.
 */
const PRONOUNS =
  /^(what|of|who|whom|whose|whoever|where|wherever|whichever|those|these|it|its|so|that|they|their|them|he|him|his|she|her|which|nobody|somebody|everybody|anybody|others)\b/i;

const TITLE_WORDS_MAX = 14;

/** A rule that a piece of prose violates. */
export interface Breach {
  readonly rule: 'opening' | 'long title' | 'house word';
  readonly found: string;
  readonly prose: Prose;
}

/** Finds violations of the rules in docs/glossary.md in these texts. */
export function breachesIn(proses: readonly Prose[], forbidden: readonly string[]): Breach[] {
  const words = forbidden.length === 0 ? undefined : new RegExp(`\\b(${forbidden.join('|')})\\b`, 'gi');
  return proses.flatMap((prose) => {
    const { kind, text } = prose;
    const breaches: Breach[] = [];
    const [opening] = PRONOUNS.exec(text) ?? [];
    if (kind === 'comment' && opening !== undefined) breaches.push({ rule: 'opening', found: opening, prose });
    const count = wordsOf(text);
    if (kind === 'title' && count > TITLE_WORDS_MAX)
      breaches.push({ rule: 'long title', found: `${count} words`, prose });
    for (const [found] of words === undefined ? [] : withoutCode(text).matchAll(words))
      breaches.push({ rule: 'house word', found, prose });
    return breaches;
  });
}

export function wordsOf(text: string): number {
  return text.split(/\s+/).filter((word) => /\w/.test(word)).length;
}

/** Removes names of code, settings and answers, which are exempt from the rules. */
const withoutCode = (text: string) => text.replace(/`[^`]*`/g, '');

/**
 * Words in the glossary's table "Not used": its right column, separated by commas. A word in brackets does not count.
 */
export function forbiddenWords(glossary: string): string[] {
  const [, table = ''] = glossary.split('\n## Not used\n');
  const cells = [...table.matchAll(/^\| [^|]+ \| ([^|]+) \|$/gm)].map(([, cell = '']) => cell.trim());
  return cells
    .filter((cell) => cell !== 'not' && !/^-+$/.test(cell))
    .flatMap((cell) => cell.split(','))
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

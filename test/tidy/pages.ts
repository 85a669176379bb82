import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Documentation page with its path from the project root. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** Reads the page at this path. */
export function readPage(path: string): Page {
  return { path, text: readFileSync(join(ROOT, path), 'utf8') };
}

/** README, changelog, guide for contributors, security policy, stored formats, the page about tests, and every page in docs/. */
export function readPages(): Page[] {
  const docs = readdirSync(join(ROOT, 'docs')).map((file) => `docs/${file}`);
  const others = [
    'README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'src/store/format/FORMAT.md',
    'test/README.md',
  ].filter((path) => existsSync(join(ROOT, path)));
  return [...others, ...docs.filter((path) => path.endsWith('.md')).sort()].map(readPage);
}

/** The page without code blocks, because links and headings in them do not count. */
export function proseOf({ text }: Page): string {
  return text.replace(/^( *)```[\s\S]*?^\1```$/gm, '');
}

/** GitHub's anchors for the page's headings. */
export function anchorsOf(page: Page): Set<string> {
  const seen = new Map<string, number>();
  const anchors = [...proseOf(page).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = plain.replace(/[^\p{L}\p{N}\p{M} _-]/gu, '').replaceAll(' ', '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
  return new Set(anchors);
}

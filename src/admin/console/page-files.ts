import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

/** The output folder of `npm run build` for src/console/. */
const FOLDER = fileURLToPath(new URL('../../console/page/', import.meta.url));
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export interface PageFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

/**
 * Console files by name; empty if the console has not been built. The few files are kept in memory, so that no name
 * from a request is ever used as a path.
 */
export function readPageFiles(): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  for (const name of findNames()) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const plain = readFileSync(join(FOLDER, name));
    files.set(name, { type, plain, gzipped: gzipSync(plain, { level: 9 }) });
  }
  return files;
}

function findNames(): string[] {
  try {
    return readdirSync(FOLDER);
  } catch {
    return [];
  }
}

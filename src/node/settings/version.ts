import { existsSync, readFileSync } from 'node:fs';

/** walletd's version, from package.json. */
export const VERSION = (
  JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')) as { version: string }
).version;

const COMMIT_FILE = new URL('../../commit', import.meta.url);

/** Commit that was built, with `-dirty` after it if the files differed from it. setup.sh writes it. */
export const COMMIT = existsSync(COMMIT_FILE) ? readFileSync(COMMIT_FILE, 'utf8').trim() : 'unknown';

/** The version and commit, in the notation of semantic versioning. It distinguishes two builds of one version. */
export const BUILD = `${VERSION}+${COMMIT}`;

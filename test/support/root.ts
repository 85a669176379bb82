import { fileURLToPath } from 'node:url';

/** Root of the project relative to dist/bench/support, with a trailing slash. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

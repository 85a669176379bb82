import { fileURLToPath } from 'node:url';

/** Root of the project, as seen from dist/bench/support; ends with a slash. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

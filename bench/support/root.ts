import { fileURLToPath } from 'node:url';

/** Of the project, as seen from dist/bench/support; ends with a slash. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

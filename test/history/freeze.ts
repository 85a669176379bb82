import { existsSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/*
 * Freezes the codec of a release: `node dist/test/history/freeze.js 0.2.0`. Run it on the commit of the release, and
 * commit the file. An existing file is never replaced, because stores that this release wrote exist.
 */
const ROOT = new URL('../../../', import.meta.url);
const pathOf = (name: string) => fileURLToPath(new URL(name, ROOT));

/** Without its native addon, msgpackr would drop a U+FEFF at the start of a long text. */
const KEEPS_BYTE_ORDER_MARKS =
  'const TextDecoder = class extends globalThis.TextDecoder { constructor() { super("utf-8", { ignoreBOM: true }); } };';

const [release = ''] = process.argv.slice(2);
const folder = pathOf(`test/history/frozen/${release}/`);
if (!/^\d+\.\d+\.\d+$/.test(release)) {
  throw new Error(`"${release}" is not a release: name one, as in \`node dist/test/history/freeze.js 0.2.0\``);
}
if (existsSync(`${folder}codec.mjs`)) throw new Error(`${folder}codec.mjs exists, and a release is frozen once`);
mkdirSync(folder, { recursive: true });
await build({
  entryPoints: [pathOf('test/history/frozen-codec.ts')],
  outfile: `${folder}codec.mjs`,
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  alias: { msgpackr: pathOf('node_modules/msgpackr/index.js') },
  banner: { js: `// The codec of walletd ${release}: made by test/history/freeze.ts\n${KEEPS_BYTE_ORDER_MARKS}` },
  legalComments: 'none',
  logLevel: 'warning',
});

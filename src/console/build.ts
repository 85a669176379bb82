import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/*
 * Builds the console: one script, one style sheet, and the page that refers to them. File names contain a hash of their
 * content. esbuild alone takes 50 ms. Vite would only add a development server, which walletd already provides.
 */
const SOURCE = fileURLToPath(new URL('../../../src/console/page/', import.meta.url));
const TARGET = fileURLToPath(new URL('./page/', import.meta.url));

rmSync(TARGET, { recursive: true, force: true });
mkdirSync(TARGET, { recursive: true });
await build({
  entryPoints: [join(SOURCE, 'main.tsx'), join(SOURCE, 'icon.svg')],
  outdir: TARGET,
  entryNames: '[name]-[hash]',
  tsconfig: join(SOURCE, 'tsconfig.json'),
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  loader: { '.svg': 'copy' },
  legalComments: 'none',
  logLevel: 'warning',
});
const page = readFileSync(join(SOURCE, 'index.html'), 'utf8').replaceAll(/\{(\w+\.\w+)\}/g, (_, name: string) => {
  const [stem, extension] = name.split('.');
  const file = readdirSync(TARGET).find((one) => one.startsWith(`${stem}-`) && one.endsWith(`.${extension}`));
  if (file === undefined) throw new Error(`the page names ${name}, which was not built`);
  return `/console/assets/${basename(file)}`;
});
writeFileSync(join(TARGET, 'index.html'), page);

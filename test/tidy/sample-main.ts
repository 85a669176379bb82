import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { Random } from '../simulation/random.js';
import { ROOT, readPages } from './pages.js';
import { type Prose, paragraphsIn, readProse } from './prose.js';

const SHARES = { comment: 0.5, paragraph: 0.25, title: 0.15, message: 0.1 } as const;
const TEXT_SHOWN_MAX = 400;

const program = new Command('sample')
  .description('Draws comments, paragraphs of pages, titles of tests and log lines, for a reader to judge.')
  .option('--seed <n>', 'what the draw comes from', Number, 1)
  .option('--count <n>', 'pieces', Number, 120)
  .parse();
const { seed, count } = program.opts<{ seed: number; count: number }>();

const random = new Random(seed);
const paragraphs = readPages()
  .filter(({ path }) => path !== 'CHANGELOG.md')
  .flatMap(({ path }) => paragraphsIn(path, readFileSync(join(ROOT, path), 'utf8')));
const all: readonly Prose[] = [...readProse(), ...paragraphs];
let number = 0;
for (const [kind, share] of Object.entries(SHARES)) {
  const left = all.filter((prose) => prose.kind === kind);
  for (let n = Math.min(left.length, Math.round(count * share)); n > 0; n--) {
    const [drawn] = left.splice(Math.floor(random.between(0, left.length)), 1);
    if (drawn === undefined) continue;
    console.log(`${++number}. ${kind} ${drawn.file}:${drawn.line}\n   ${drawn.text.slice(0, TEXT_SHOWN_MAX)}`);
  }
}

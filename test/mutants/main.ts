import { Command, InvalidArgumentError } from 'commander';
import { formatTable } from '../../src/cli/print/table.js';
import type { Killer, Mutant } from './mutant.js';
import { MUTANTS } from './mutants.js';
import { MutatedTree } from './mutated-tree.js';
import { type Run, runKiller } from './run-killer.js';

const JOBS = 2;

const program = new Command('mutants')
  .description(
    'Plants each bug of test/mutants/mutants.ts in a copy of dist and runs the test that has to fail for it.',
  )
  .option('--only <pattern>', 'mutants whose file, bug or test matches this regular expression', pattern)
  .option('--jobs <n>', 'how many at a time', whole, JOBS)
  .addHelpText('after', '\nExit codes: 0 every mutant was killed, 1 one has survived, or its test fails without it.')
  .parse();

type Verdict = 'killed' | 'SURVIVED' | 'NO TEST' | 'FAILS WITHOUT';

interface Result {
  readonly mutant: Mutant;
  readonly verdict: Verdict;
  readonly tookMs: number;
  /** The output of a test that failed even without the bug. */
  readonly output: string;
}

const { only, jobs } = program.opts<{ only?: RegExp; jobs: number }>();
const chosen = MUTANTS.filter(
  ({ bug, file, killer }) => only?.test(`${file} ${bug} ${killer.file} ${killer.title}`) ?? true,
);
const startedMs = performance.now();
/** Result of each test without a bug, by file and title. */
const healthy = new Map<string, Promise<Run>>();
const results = new Map<Mutant, Result>();
const waiting = [...chosen];
let isStopped = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    isStopped = true;
  });
}

if (chosen.length === 0) {
  console.error('no mutant matches');
  process.exit(1);
}
await Promise.all(Array.from({ length: Math.min(jobs, chosen.length) }, work));
summarize();

/** Runs one mutant after another in a separate tree. */
async function work(): Promise<void> {
  const tree = new MutatedTree();
  try {
    for (let mutant = waiting.shift(); mutant !== undefined && !isStopped; mutant = waiting.shift()) {
      const result = await judge(mutant, tree);
      results.set(mutant, result);
      const seconds = (result.tookMs / 1000).toFixed(1);
      console.log(`${results.size}/${chosen.length} ${result.verdict} in ${seconds} s: ${mutant.bug}`);
    }
  } finally {
    tree.remove();
  }
}

async function judge(mutant: Mutant, tree: MutatedTree): Promise<Result> {
  const before = await withoutBug(mutant.killer, tree);
  if (before.type !== 'passed') {
    const verdict = before.type === 'absent' ? 'NO TEST' : 'FAILS WITHOUT';
    return { mutant, verdict, tookMs: before.tookMs, output: before.output };
  }
  const { type, tookMs } = await tree.with(mutant, () => runKiller(mutant.killer, tree.path, tree.temp));
  return { mutant, verdict: type === 'failed' ? 'killed' : 'SURVIVED', tookMs, output: '' };
}

function withoutBug(killer: Killer, tree: MutatedTree): Promise<Run> {
  const key = `${killer.file} ${killer.title}`;
  const known = healthy.get(key);
  if (known !== undefined) return known;
  const run = runKiller(killer, tree.path, tree.temp);
  healthy.set(key, run);
  return run;
}

function summarize(): void {
  const all = chosen.flatMap((mutant) => results.get(mutant) ?? []);
  const rows = all.map(({ mutant: { file, bug, killer }, verdict, tookMs }) => {
    const seconds = (tookMs / 1000).toFixed(1);
    return [verdict, file, bug, killer.file, killer.title, seconds];
  });
  console.log(`\n${formatTable(['verdict', 'file', 'bug', 'test file', 'test', { right: 's' }], rows)}`);
  const alive = all.filter(({ verdict }) => verdict !== 'killed');
  for (const { mutant, output } of alive) if (output !== '') console.error(`\n${mutant.killer.file}:\n${output}`);
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  console.log(`\n${all.length - alive.length} of ${chosen.length} mutants killed in ${seconds} s`);
  if (alive.length > 0 || all.length < chosen.length) process.exitCode = 1;
}

function pattern(text: string): RegExp {
  try {
    return new RegExp(text);
  } catch {
    throw new InvalidArgumentError('It must be a regular expression.');
  }
}

function whole(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('It must be a whole number above 0.');
  return value;
}

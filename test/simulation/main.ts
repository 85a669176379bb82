import { randomInt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { describeFailure } from './failure-report.js';
import { type Plan, planOf } from './plan.js';
import { shrink } from './shrink.js';
import { simulate } from './whole-node.js';

const SEED_MAX = 2 ** 31 - 1;
const OPERATIONS = 100_000;

const program = new Command('simulate-node')
  .description('Plays whole clusters of walletd, with everything that can go wrong around them, each from one seed.')
  .option('--seed <n>', 'the first seed (default: another one each time)', whole)
  .option('--seconds <s>', 'one seed after the other for so long; without it only one', whole)
  .option('--operations <n>', 'answers until a run ends', whole, OPERATIONS)
  .option('--plan <file>', 'one run with this plan, which a failing run has written')
  .option('--months', 'in every third run clocks leap by weeks', false)
  .addHelpText('after', '\nExit codes: 0 all was as it must be, 1 something was not; it is printed with its seed.')
  .parse();

interface Options {
  readonly seed?: number;
  readonly seconds?: number;
  readonly operations: number;
  readonly plan?: string;
  readonly months: boolean;
}

const options = program.opts<Options>();
const { seconds, operations } = options;
const given = options.plan === undefined ? undefined : (JSON.parse(readFileSync(options.plan, 'utf8')) as Plan);
const first = given?.seed ?? options.seed ?? randomInt(1, SEED_MAX);
const startedMs = performance.now();
const endMs = startedMs + (seconds ?? 0) * 1000;
const cpuBefore = process.cpuUsage();
const faults = new Map<string, number>();
let total = 0;
let seed = first;
let isStopped = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    isStopped = true;
  });
}
process.on('unhandledRejection', (error) => {
  console.error(`seed ${seed}: uncaught: ${describeFailure(error as Error, repeatOf(seed))}`);
  process.exit(1);
});

// The reference wallet refuses messages by throwing, and a stack trace costs more than the rest of its work.
const traceLimit = Error.stackTraceLimit;
if (given === undefined) Error.stackTraceLimit = 0;

do {
  const plan = given ?? planOf(seed, operations, options.months);
  const ranMs = performance.now();
  const outcome = await simulate(plan);
  total += outcome.operations;
  for (const [kind, count] of outcome.faults) faults.set(kind, (faults.get(kind) ?? 0) + count);
  const perSecond = (outcome.operations * 1000) / (performance.now() - ranMs);
  const times = [...outcome.faults.values()].reduce((sum, count) => sum + count, 0);
  console.log(
    `seed ${seed}: ${outcome.operations} operations in ${(outcome.tookMs / 1000).toFixed(1)} s of its time, ` +
      `${Math.round(perSecond)}/s, ${times} faults, digest ${outcome.digest}`,
  );
  if (outcome.failure !== undefined) {
    await explain(plan, outcome.failure);
    process.exitCode = 1;
    break;
  }
  seed++;
} while (given === undefined && !isStopped && performance.now() < endMs);

summarize();

async function explain(plan: Plan, failure: Error): Promise<void> {
  console.error(`\nseed ${plan.seed} fails: ${describeFailure(failure, repeatOf(plan.seed))}`);
  if (given !== undefined) return;
  console.error('\nmaking it smaller...');
  Error.stackTraceLimit = traceLimit;
  let smallestFailure = failure;
  const smallest = await shrink(plan, async (smaller) => {
    const { failure: found } = await simulate(smaller);
    if (found !== undefined) smallestFailure = found;
    return found !== undefined;
  });
  const file = join(tmpdir(), `walletd-simulation-${plan.seed}.json`);
  writeFileSync(file, `${JSON.stringify(smallest, undefined, 1)}\n`);
  console.error(
    `the smallest that fails: ${describeFailure(smallestFailure, `npm run simulate-node -- --plan ${file}`)}`,
  );
}

/** The command that repeats the run of a seed. */
function repeatOf(failing: number): string {
  if (options.plan !== undefined) return `npm run simulate-node -- --plan ${options.plan}`;
  return `npm run simulate-node -- --seed ${failing} --operations ${operations}${options.months ? ' --months' : ''}`;
}

function summarize(): void {
  const tookS = (performance.now() - startedMs) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const cpuS = (user + system) / 1e6;
  console.log(
    `\n${total} operations in ${tookS.toFixed(1)} s (${Math.round(total / tookS)}/s), ` +
      `${cpuS.toFixed(1)} s of processor (${Math.round(total / cpuS)}/s); seeds ${first} to ${Math.max(first, seed - 1)}`,
  );
  for (const [kind, count] of [...faults].sort(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`${kind.padEnd(18)} ${count}`);
}

function whole(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > SEED_MAX) {
    throw new InvalidArgumentError('It must be a whole number above 0.');
  }
  return value;
}

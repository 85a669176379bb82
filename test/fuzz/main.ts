import { randomInt } from 'node:crypto';
import { Command, InvalidArgumentError } from 'commander';
import { Progress } from '../../src/cli/print/progress.js';
import { Finding } from './finding.js';
import { fuzz } from './fuzz.js';

const SEED_MAX = 2 ** 31 - 1;

const program = new Command('fuzz')
  .description('Sends to real servers, for a time, what no platform and no operator would send.')
  .option('--seconds <n>', 'how long', whole, 60)
  .option('--seed <n>', 'what all chance comes from (default: another one each time)', whole)
  .addHelpText('after', '\nExit codes: 0 nothing was found, 1 something was; it is printed with its seed.')
  .parse();

const { seconds, seed = randomInt(1, SEED_MAX) } = program.opts<{ seconds: number; seed?: number }>();
console.log(`seed ${seed}, ${seconds} s`);
const progress = new Progress('Fuzzing', true);
let startMs: number | undefined;
let isStopped = false;
// The terminal also sends the signal to the servers. Remove their temporary files in any case.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    isStopped = true;
  });
}
try {
  const table = await fuzz(seed, () => {
    // Measure the time from the first call, which comes after the servers have started.
    startMs ??= performance.now();
    const passedMs = performance.now() - startMs;
    progress.update(passedMs, seconds * 1000);
    return !isStopped && passedMs < seconds * 1000;
  });
  progress.stop();
  console.log(table);
} catch (error) {
  progress.stop();
  process.exitCode = 1;
  if (!isStopped) {
    console.error(error instanceof Finding ? error.describe() : error);
    console.error(`\nThe same again: npm run fuzz -- --seed ${seed}`);
  }
}

function whole(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > SEED_MAX) {
    throw new InvalidArgumentError('It must be a whole number above 0.');
  }
  return value;
}

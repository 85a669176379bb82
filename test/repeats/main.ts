import { randomInt } from 'node:crypto';
import { Command, InvalidArgumentError } from 'commander';
import { type Ran, runSetting } from './run-setting.js';
import { SETTINGS } from './settings/all.js';
import type { Setting } from './settings/setting.js';

const SEED_MAX = 2 ** 31 - 1;
const SECONDS = 20;

interface Options {
  readonly seed?: number;
  readonly seconds: number;
  readonly repeats?: number;
  readonly setting?: Setting;
  readonly findings: number;
}

const program = new Command('explore-repeats')
  .description('Sends acknowledged callbacks again, of any age, to real processes: no repeat may change anything.')
  .option('--seed <n>', 'the first history; each has a seed of its own (default: another one each time)', whole)
  .option('--seconds <s>', 'how long, in each setting', whole, SECONDS)
  .option('--repeats <n>', 'ends a setting after so many repeats', whole)
  .option('--setting <name>', `one of ${SETTINGS.map(({ name }) => name).join(', ')} (default: all in turn)`, named)
  .option('--findings <n>', 'ends after so many histories that break a promise, and shrinks each', whole, 1)
  .addHelpText(
    'after',
    '\nExit codes: 0 nothing was found, 1 something was; the shortest history is printed with its seed.',
  )
  .parse();

const { seconds, repeats, setting, findings, seed = randomInt(1, SEED_MAX) } = program.opts<Options>();
console.log(`seed ${seed}`);
let isStopped = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    isStopped = true;
  });
}

for (const one of setting === undefined ? SETTINGS : [setting]) {
  if (isStopped || process.exitCode === 1) break;
  await run(one);
}

async function run(one: Setting): Promise<void> {
  const repeatsMax = repeats ?? Number.POSITIVE_INFINITY;
  const isOver = () => isStopped;
  try {
    const plan = { seed, seconds, repeatsMax, findingsMax: findings, isOver };
    tell(one, await runSetting(one, plan, (sentence) => console.error(`${one.name}: ${sentence}`)));
  } catch (error) {
    process.exitCode = 1;
    console.error(`${one.name}:`, error);
    console.error(`\n${again(one)}`);
  }
}

function tell(one: Setting, { counts, seconds: took, findings: found, resent, disturbances, archived }: Ran): void {
  const more = [
    `${Math.round(counts.repeats / took)} repeats/s`,
    `${resent} sent again without an answer`,
    ...(disturbances > 0 ? [`${disturbances} disturbances`] : []),
    ...(archived === undefined ? [] : [`${archived} names in the archive`]),
  ].join(', ');
  console.log(`${one.name}: ${counts.describe()}, ${more}`);
  if (found.length === 0) return;
  process.exitCode = 1;
  for (const { seed: historySeed, text } of found) {
    console.log(`\n${one.name}, ${text}`);
    console.log(again(one, historySeed));
  }
}

function again({ name }: Setting, first = seed): string {
  return `The same again: npm run explore-repeats -- --setting ${name} --seed ${first}`;
}

function named(name: string): Setting {
  const found = SETTINGS.find((one) => one.name === name);
  if (found === undefined)
    throw new InvalidArgumentError(`It must be one of ${SETTINGS.map((one) => one.name).join(', ')}.`);
  return found;
}

function whole(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > SEED_MAX) {
    throw new InvalidArgumentError('It must be a whole number above 0.');
  }
  return value;
}

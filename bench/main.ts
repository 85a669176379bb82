import { tmpdir } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { parseRedisAddress } from '../src/store/redis/redis-address.js';
import { type AllSettings, runAll } from './all.js';
import { type ClusterSettings, PARTS, runCluster } from './cluster/cluster.js';
import { type ColdSettings, runCold } from './cold/cold.js';
import { type CompareSettings, runCompare } from './compare/compare.js';
import { type ConsoleSettings, runConsole } from './console/console.js';
import { type CostSettings, runCost } from './cost/cost.js';
import { runFeedCost } from './cost/feed.js';
import { type KeysSettings, runKeys } from './hash-keys/hash-keys.js';
import { chaptersOf, type LoadSettings, runLoad } from './load/load.js';
import { MIXES } from './load/stories.js';
import { targetOf } from './load/target.js';
import { runMemory } from './memory/memory.js';
import { type MicroSettings, runMicro } from './micro/micro.js';
import { type OverloadSettings, runOverload } from './overload/overload.js';
import { type PeersSettings, runPeers } from './peers/peers.js';
import { type ReconcileSettings, runReconcile } from './reconcile/reconcile.js';
import { type RecoverySettings, runRecovery } from './recovery/recovery.js';
import { mustBeWritable, type SaveSettings, save } from './report/save.js';
import { runScale, type ScaleSettings } from './scale/scale.js';
import { runSoak, type SoakSettings } from './soak/soak.js';
import { runStrangers, type StrangersSettings } from './strangers/strangers.js';
import { DURABILITIES, STORES } from './support/store.js';

const PLAYERS_MAX = 9_999_999;
const OPEN_BETS_MAX = 100;
/** The command that runs if none is given. */
const DEFAULT_COMMAND = 'all';

const seconds = (value: number) => number('--seconds <n>', 'length of each run', value);
const alternating = (eachSeconds: number, rounds: number) => [
  seconds(eachSeconds),
  number('--rounds <n>', 'rounds in alternation; medians are shown', rounds),
];
const connections = (value: number) => number('--connections <n>', 'keep-alive connections', value);
const players = (value: number) => number('--players <n>', 'players', value);
const workers = () => new Option('--workers <n>', 'worker threads; 0: none').argParser(count).default(0);
const workerCounts = (values: readonly number[]) =>
  new Option('--workers <n,...>', 'counts of worker threads; 0: none').argParser(counts).default(values);
const onStore = () => [
  new Option('--store <kind>', "where walletd's log is").choices(STORES).default('lmdb'),
  new Option('--redis <url>', 'your own Redis, under a prefix that is removed at the end').argParser(redisAddress),
  new Option('--durability <class>', 'what an answer waits for').choices(DURABILITIES).default('fsync'),
];
/** Options for the traffic mix and the store. */
const mixed = () => [
  new Option(
    '--mix <name>',
    'what most platforms send, by Zipf; all eleven callbacks; with a checkBalance before each round; or bets only',
  )
    .choices(MIXES)
    .default('real'),
  ...onStore(),
];

type LoadArguments = Omit<LoadSettings, 'target'> &
  SaveSettings & { readonly target?: string; readonly operatorApi?: string };

const { WALLETD_ADMIN_TOKEN, WALLETD_SIGNATURE_KEYS } = process.env;
/** Secrets of a walletd that is already running. */
const secrets = { WALLETD_ADMIN_TOKEN, WALLETD_SIGNATURE_KEYS };

const program = new Command('bench')
  .description('How fast walletd is on this machine. Each command writes bench/report/report.html; the default is all.')
  .addHelpText('after', '\nOptions of a command: npm run bench -- load --help');

command(
  'load',
  'throughput and latency, beside an echo server, and one that only appends to a log',
  new Option('--connections <n,...>', 'keep-alive connections of closed loops (without --rate: 128)').argParser(wholes),
  new Option('--rate <n,...>', 'requests/s, sent by the clock (open loop); with --connections both').argParser(wholes),
  workerCounts([0]),
  new Option('--players <n,...>', 'players; several take turns').argParser(populations).default([10_000]),
  new Option('--open-bets <n>', 'held by each player while it is measured').argParser(openBets).default(0),
  new Option('--memory-seconds <n>', 'how long closed rounds stay in memory before they go to an archive').argParser(
    whole,
  ),
  new Option('--target <url>', 'callbacks of a walletd that runs, alone; with WALLETD_SIGNATURE_KEYS they are signed'),
  new Option('--operator-api <url>', 'of that walletd, with WALLETD_ADMIN_TOKEN if it asks for one'),
  ...mixed(),
  ...alternating(8, 3),
).action(async ({ target, ...options }: LoadArguments) => {
  const settings = target === undefined ? options : { ...options, target: targetOf({ ...options, target }, secrets) };
  const report = await runLoad(settings);
  save(chaptersOf(report), options);
});

command(
  'overload',
  'more than can be answered: what still is, what is refused, and how soon',
  number('--times <n>', 'what is offered, as a multiple of the capacity', 2),
  new Option('--in-flight <n>', "walletd's limits.inFlightMax").argParser(whole),
  connections(8000),
  workers(),
  players(10_000),
  ...mixed(),
  seconds(20),
).action(async (options: OverloadSettings & SaveSettings) => save({ overload: await runOverload(options) }, options));

command(
  'scale',
  'throughput by workers and by players, the cost of a thread hop, memory',
  workerCounts([0, 1, 2]),
  new Option('--players <n,...>', 'players').argParser(wholes).default([10_000, 100_000, 1_000_000]),
  connections(128),
  ...mixed(),
  ...alternating(8, 3),
).action(async (options: ScaleSettings & SaveSettings) => save({ scale: await runScale(options) }, options));

command(
  'recovery',
  'starts from logs and from snapshots, and callbacks while snapshots are taken',
  workerCounts([0, 2]),
  players(100_000),
  number('--rate <n>', 'requests/s, sent by the clock (open loop)', 5000),
  connections(128),
  ...mixed(),
  ...alternating(8, 3),
).action(async (options: RecoverySettings & SaveSettings) => save({ recovery: await runRecovery(options) }, options));

command(
  'cold',
  'the first seconds of a fresh process, beside its warm ones and beside an echo server that appends to a log',
  number('--rate <n>', 'requests/s, sent by the clock (open loop)', 6000),
  workerCounts([0]),
  connections(64),
  players(10_000),
  ...mixed(),
  ...alternating(20, 5),
).action(async (options: ColdSettings & SaveSettings) => save({ cold: await runCold(options) }, options));

program
  .command('reconcile')
  .description("a platform's history against bets that agree with it: records/s and memory; not in the report")
  .addOption(number('--records <n>', 'of the history, and bets here', 10_000_000))
  .action((options: ReconcileSettings) => runReconcile(options));

program
  .command('keys')
  .description('hash tables with keys computed to collide without a secret, beside random keys; not in the report')
  .addOption(number('--rounds <n>', 'rounds in alternation; medians are shown', 20))
  .action((options: KeysSettings) => runKeys(options));

program
  .command('console')
  .description('the console with many players: searches, and what a browser needs for a view; not in the report')
  .option('--folder <path>', 'where the store is put', tmpdir())
  .addOption(players(1_000_000))
  .addOption(number('--rounds <n>', 'of each; medians are shown', 5))
  .action((options: ConsoleSettings) => runConsole(options));

program
  .command('strangers')
  .description('an allowed caller of each listener while strangers fill it with connections; not in the report')
  .option('--folder <path>', 'where the store is put', tmpdir())
  .addOption(number('--rate <n>', 'connections that strangers open each second', 1000))
  .addOption(seconds(5))
  .addOption(number('--rounds <n>', 'rounds in alternation; medians are shown', 5))
  .action((options: StrangersSettings) => runStrangers(options));

command(
  'peers',
  'beside what a team would build first',
  connections(128),
  players(10_000),
  ...alternating(8, 3),
).action(async (options: PeersSettings & SaveSettings) => save({ peers: await runPeers(options) }, options));

command(
  'cost',
  'what scrapes, an open console, snapshots, signatures and traces cost',
  connections(128),
  players(10_000),
  ...mixed(),
  ...alternating(8, 3),
)
  .option('--feed', 'instead, what a pull and a push consumer of the event feed cost, and their lag; not saved')
  .addOption(number('--rate <n>', 'with --feed: requests/s, sent by the clock (open loop), after a closed loop', 6000))
  .action(async ({ feed, rate, ...options }: CostSettings & SaveSettings & { feed?: true; rate: number }) => {
    if (feed) await runFeedCost(options, rate);
    else await save({ cost: await runCost(options) }, options);
  });

command(
  'compare',
  'another commit and the working tree in alternation, in fresh processes',
  connections(128),
  workers(),
  players(10_000),
  ...mixed(),
  ...alternating(8, 5),
)
  .argument('<ref>', 'what to compare with: a branch, tag or commit')
  .action(async (ref: string, options: CompareSettings & SaveSettings) =>
    save({ compare: await runCompare(ref, options) }, options),
  );

command(
  'cluster',
  'three nodes: what they cost beside one, and how long they take to get over what happens to one of them',
  players(1_000_000),
  number('--rate <n>', 'requests/s, sent by the clock (open loop)', 1000),
  new Option('--only <name...>', 'some of it').choices(PARTS),
  ...alternating(5, 5),
).action(async (options: ClusterSettings & SaveSettings) => save({ cluster: await runCluster(options) }, options));

command('memory', 'memory per player and per bet').action((options: SaveSettings) =>
  save({ memory: runMemory() }, options),
);

command(
  'soak',
  'one server for twenty million callbacks: what grows, and what stands still',
  number('--callbacks <n>', 'how many', 20_000_000),
  players(1_000_000),
  number('--rate <n>', 'requests/s, sent by the clock (open loop)', 8000),
  connections(128),
  new Option('--open-bets <n>', 'held by each player meanwhile').argParser(openBets).default(2),
  number('--memory-seconds <n>', 'how long closed rounds stay in memory', 60),
  ...mixed(),
).action(async (options: SoakSettings & SaveSettings) => save({ soak: await runSoak(options) }, options));

command(
  'micro',
  'hot functions, each beside its obvious alternative',
  number('--seconds <n>', 'time for each case', 1),
).action(async (options: MicroSettings & SaveSettings) => save({ micro: await runMicro(options) }, options));

command(
  DEFAULT_COMMAND,
  'all of these but cluster, compare and soak, each briefly: a quarter of an hour',
  ...onStore(),
  ...alternating(5, 2),
).action(async (options: AllSettings & SaveSettings) => save(await runAll(options), options));

// Ignore the user's WALLETD_ variables, because only the bench may determine the settings of the servers under test.
for (const name of Object.keys(process.env)) if (name.startsWith('WALLETD_')) delete process.env[name];

const [first] = process.argv.slice(2);
if (
  first !== undefined &&
  !first.startsWith('-') &&
  !['help', ...program.commands.map((one) => one.name())].includes(first)
) {
  program.error(`unknown command ${first}: ${program.commands.map((one) => one.name()).join(', ')}`);
}

try {
  await program.parseAsync();
} catch (error) {
  // The bench's own errors are readable sentences. For any other error, print the stack.
  console.error((error as Error).constructor === Error ? (error as Error).message : error);
  process.exitCode = 1;
}

/** Adds a command whose results are saved, together with facts about the machine and about the disk of `folder`. */
function command(name: string, description: string, ...options: readonly Option[]): Command {
  const command = program
    .command(name, { isDefault: name === DEFAULT_COMMAND })
    .description(description)
    .option('--folder <path>', 'where stores are put; decides what an fsync costs', tmpdir())
    .option('--json <file>', 'write the raw results and the environment, too')
    .hook('preAction', (_, called) => mustBeWritable(called.opts<SaveSettings>()));
  for (const option of options) command.addOption(option);
  return command;
}

function number(flags: string, description: string, value: number): Option {
  return new Option(flags, description).argParser(whole).default(value);
}

function whole(text: string): number {
  const value = count(text);
  if (value < 1) throw new InvalidArgumentError('It must be a whole number above 0.');
  return value;
}

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new InvalidArgumentError('It must be a whole number.');
  return value;
}

function redisAddress(text: string): string {
  if (parseRedisAddress(text) !== undefined) return text;
  throw new InvalidArgumentError('It must be an address of Redis: redis://user:password@host:port/database');
}

/** Parses a list of counts that fit in the generator's ID digits. */
function populations(text: string): number[] {
  const values = wholes(text);
  if (Math.max(...values) > PLAYERS_MAX) throw new InvalidArgumentError(`At most ${PLAYERS_MAX} players.`);
  return values;
}

/** Parses the number of open bets, which a single callback places. */
function openBets(text: string): number {
  const value = count(text);
  if (value > OPEN_BETS_MAX) throw new InvalidArgumentError(`At most ${OPEN_BETS_MAX}.`);
  return value;
}

function wholes(text: string): number[] {
  return text.split(',').map(whole);
}

function counts(text: string): number[] {
  return text.split(',').map(count);
}

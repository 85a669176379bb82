import { tmpdir } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type LoadSettings, runLoad } from './load/load.js';
import type { RaceSettings } from './load/race.js';
import { MIXES, type Mix } from './load/stories.js';
import { runMemory } from './memory/memory.js';
import { type MicroSettings, runMicro } from './micro/micro.js';
import { type OverloadSettings, runOverload } from './overload/overload.js';
import { runPeers } from './peers/peers.js';
import { type RecoverySettings, runRecovery } from './recovery/recovery.js';
import { STORES } from './support/store.js';

const program = new Command('bench').description('How fast walletd is on this machine, beside an echo server.');

const load = raceOf('load')
  .description('throughput and latency over keep-alive connections, beside an echo server in the same run')
  .addOption(new Option('--store <kind>', 'where walletd keeps its log').choices(STORES).default('lmdb'))
  .option('--workers <n,...>', 'counts of worker threads to measure; 0: shards in the main thread', counts, [0])
  .option('--rate <n>', 'requests per second, sent by the clock (open loop); without it each connection waits', whole)
  .action((options: LoadSettings) => runLoad(options));

const peers = raceOf('peers', 'pairs')
  .description('beside Fastify with one Lua script per bet, on the same Redis')
  .action((options: RaceSettings) => runPeers(options));

const recovery = raceOf('recovery')
  .description('a start from the log and from snapshots, and the latency of callbacks while snapshots are taken')
  .addOption(new Option('--store <kind>', 'where walletd keeps its log').choices(STORES).default('lmdb'))
  .option('--rate <n>', 'requests per second, sent by the clock (open loop)', whole, 5000)
  .action((options: RecoverySettings) => runRecovery(options));

const overload = new Command('overload')
  .description('more callbacks than can be answered: what is still answered, what is refused, and how soon')
  .addOption(new Option('--store <kind>', 'where walletd keeps its log').choices(STORES).default('lmdb'))
  .option('--workers <n>', 'worker threads; 0: shards in the main thread', count, 0)
  .option('--in-flight <n>', "walletd's limits.inFlightMax", whole)
  .option('--times <n>', 'what is offered, as a multiple of the capacity', whole, 2)
  .option('--seconds <n>', 'how long', whole, 20)
  .option('--connections <n>', 'keep-alive connections', whole, 8000)
  .option('--players <n>', 'players', whole, 10_000)
  .addOption(mixOption('real'))
  .option('--folder <path>', 'where the store is put; decides what an fsync costs', tmpdir())
  .action((options: OverloadSettings) => runOverload(options));

const memory = new Command('memory').description('heap per player and per transaction').action(() => runMemory());

const micro = new Command('micro')
  .description('hot functions, each beside its obvious alternative')
  .option('--seconds <n>', 'time for each case', whole, 1)
  .action((options: MicroSettings) => runMicro(options));

const all = new Command('all').description('load, memory, then micro (the default)').action(async () => {
  await load.parseAsync([], { from: 'user' });
  runMemory();
  await micro.parseAsync([], { from: 'user' });
});

for (const command of [load, overload, peers, recovery, memory, micro]) program.addCommand(command);
program.addCommand(all, { isDefault: true });
try {
  await program.parseAsync();
} catch (error) {
  // Our own errors are sentences for people; of anything else we need to see where it happened.
  console.error((error as Error).constructor === Error ? (error as Error).message : error);
  process.exitCode = 1;
}

/** A command that lets servers run under the same load in turn. */
function raceOf(name: string, mix: Mix = 'real'): Command {
  return new Command(name)
    .option('--seconds <n>', 'length of each round', whole, 8)
    .option('--connections <n>', 'keep-alive connections', whole, 128)
    .option('--players <n>', 'players', whole, 10_000)
    .addOption(mixOption(mix))
    .option('--rounds <n>', 'alternating rounds; the medians are shown', whole, 3)
    .option('--folder <path>', 'where the store is put; decides what an fsync costs', tmpdir());
}

function mixOption(mix: Mix): Option {
  const text = 'callbacks as platforms send them, by Zipf, or placeBets and settleBets in turn';
  return new Option('--mix <name>', text).choices(MIXES).default(mix);
}

function whole(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('It must be a whole number above 0.');
  return value;
}

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new InvalidArgumentError('It must be a whole number.');
  return value;
}

function counts(text: string): number[] {
  return text.split(',').map(count);
}

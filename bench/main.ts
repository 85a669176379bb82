import { Command, InvalidArgumentError } from 'commander';
import { type LoadSettings, runLoad } from './load/load.js';
import { runMemory } from './memory/memory.js';
import { type MicroSettings, runMicro } from './micro/micro.js';

const program = new Command('bench').description('How fast walletd is on this machine, beside an echo server.');

const load = new Command('load')
  .description('throughput and latency over keep-alive connections, beside an echo server in the same run')
  .option('--seconds <n>', 'length of each round', whole, 8)
  .option('--connections <n>', 'keep-alive connections', whole, 128)
  .option('--players <n>', 'players', whole, 10_000)
  .option('--rounds <n>', 'alternating rounds; the medians are shown', whole, 3)
  .option('--folder <path>', 'where the store is put; decides what an fsync costs (default: the temporary folder)')
  .action((options: LoadSettings) => runLoad(options));

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

program.addCommand(load).addCommand(memory).addCommand(micro).addCommand(all, { isDefault: true });
await program.parseAsync();

function whole(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('It must be a whole number above 0.');
  return value;
}

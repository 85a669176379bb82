import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Column, formatTable } from '../../src/cli/print/table.js';

/** Bytes, in the heap and outside. Every bet is in a round of its own. */
export interface MemoryReport {
  /** Funded, without a bet. */
  readonly perPlayer: number;
  readonly perOpenBet: number;
  readonly perClosedBet: number;
}

/** Memory per player and per transaction, measured in a fresh process that may collect garbage when it wants to. */
export function runMemory(): MemoryReport {
  const script = fileURLToPath(new URL('./measure.js', import.meta.url));
  const args = ['--expose-gc', '--max-old-space-size=4096', script];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`memory could not be measured: ${stderr}`);
  const report = JSON.parse(stdout) as MemoryReport;
  console.log(formatTable(MEMORY_COLUMNS, memoryRows(report)));
  return report;
}

export const MEMORY_COLUMNS: readonly Column[] = ['memory', { right: 'bytes' }, { right: 'to reach' }];

export function memoryRows({ perPlayer, perOpenBet, perClosedBet }: MemoryReport): string[][] {
  const bytes = (value: number) => String(Math.round(value));
  return [
    ['per player, funded, no bet', bytes(perPlayer), ''],
    ['per open bet, each in a round of its own', bytes(perOpenBet), ''],
    ['per player with two open bets', bytes(perPlayer + 2 * perOpenBet), '< 1024'],
    ['per closed bet, each in a round of its own', bytes(perClosedBet), '< 600'],
  ];
}

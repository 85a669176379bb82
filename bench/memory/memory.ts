import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Column, formatTable } from '../../src/cli/print/table.js';

/** Bytes, both in the heap and outside it. Every bet is in its own round. */
export interface MemoryReport {
  /** Bytes of a funded player without bets. */
  readonly perPlayer: number;
  readonly perOpenBet: number;
  readonly perClosedBet: number;
  /** A bet that was closed, reopened by a rollback, and closed again. */
  readonly perBetTwiceClosed: number;
  readonly perTip: number;
  readonly perReward: number;
  /** One debit or credit of adjustBalance. */
  readonly perMovement: number;
}

/** Memory per player and per transaction, measured in a fresh process with explicit garbage collection. */
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

export function memoryRows(report: MemoryReport): string[][] {
  const { perPlayer, perOpenBet, perClosedBet, perBetTwiceClosed, perTip, perReward, perMovement } = report;
  const bytes = (value: number) => String(Math.round(value));
  return [
    ['per player, funded, no bet', bytes(perPlayer), ''],
    ['per open bet, each in a round of its own', bytes(perOpenBet), ''],
    ['per player with two open bets', bytes(perPlayer + 2 * perOpenBet), '< 1024'],
    ['per closed bet, each in a round of its own', bytes(perClosedBet), '< 600'],
    ['per bet that a rollback opened and that closed once more', bytes(perBetTwiceClosed), ''],
    ['per tip, each in a round of its own', bytes(perTip), ''],
    ['per reward, each in a round of its own', bytes(perReward), ''],
    ['per debit or credit of adjustBalance', bytes(perMovement), ''],
  ];
}

import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Microseconds per tick of process times. Linux reports this unit to every C program. */
const TICK_US = 10_000;
const USER = 11;
const SYSTEM = 12;

/** Processor time used by these processes so far. */
export function usedUs(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    // Skip the process name, which is in parentheses and may contain blanks.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return sum + (Number(fields[USER]) + Number(fields[SYSTEM])) * TICK_US;
  }, 0);
}

/** Share of one core that a process uses during the next `ms` milliseconds. */
export async function coreShare(pid: number, ms: number): Promise<number> {
  const fromUs = usedUs([pid]);
  const fromMs = performance.now();
  await delay(ms);
  return (usedUs([pid]) - fromUs) / 1000 / (performance.now() - fromMs);
}

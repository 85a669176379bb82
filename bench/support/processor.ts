import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Of a process, in ticks since it began; `times` of a program in C counts in as many per second everywhere on Linux. */
const TICK_US = 10_000;
const USER = 11;
const SYSTEM = 12;

/** What these processes have used of the processor. */
export function usedUs(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    // The name before may have blanks.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return sum + (Number(fields[USER]) + Number(fields[SYSTEM])) * TICK_US;
  }, 0);
}

/** What a process uses of one core in the time that comes. */
export async function coreShare(pid: number, ms: number): Promise<number> {
  const fromUs = usedUs([pid]);
  const fromMs = performance.now();
  await delay(ms);
  return (usedUs([pid]) - fromUs) / 1000 / (performance.now() - fromMs);
}

import type { CheckResult } from './store.js';

const WRITES = 40;
const BYTES = 4096;
/**
 * If the median write takes longer than this, the check warns or fails. Every answer waits for a write, so slow writes
 * delay every answer.
 */
const SLOW_MS = 20;
const VERY_SLOW_MS = 100;

/** Times writes like those of the log, one after another. Every answer waits for at least one such write. */
export async function timeWrites(write: (bytes: Buffer) => Promise<unknown>, todo: string): Promise<CheckResult> {
  const bytes = Buffer.alloc(BYTES, 'w');
  const tookMs: number[] = [];
  for (let n = 0; n < WRITES; n++) {
    const startedMs = performance.now();
    await write(bytes);
    tookMs.push(performance.now() - startedMs);
  }
  tookMs.sort((a, b) => a - b);
  const [median, worst] = [tookMs[WRITES / 2] as number, tookMs.at(-1) as number];
  const verdict = median > VERY_SLOW_MS ? 'bad' : median > SLOW_MS ? 'look' : 'good';
  const says = `${WRITES} writes of ${BYTES / 1024} KiB: half took ${median.toFixed(2)} ms or less, the slowest ${worst.toFixed(2)} ms`;
  return { about: 'durable write', verdict, says, ...(verdict !== 'good' && { todo }) };
}

const SCARCE_BYTES = 1024 ** 3;

/** Judges the free space: a warning below 1 GiB, and a failure below 64 MiB. */
export function judgeFreeSpace(usedBytes: number, freeBytes: number, todo: string): CheckResult {
  const verdict = freeBytes < SCARCE_BYTES / 16 ? 'bad' : freeBytes < SCARCE_BYTES ? 'look' : 'good';
  const mib = (bytes: number) => `${Math.round(bytes / 1024 ** 2).toLocaleString('en-US')} MiB`;
  return {
    about: 'room',
    verdict,
    says: `${mib(usedBytes)} used, ${mib(freeBytes)} free`,
    ...(verdict !== 'good' && { todo }),
  };
}

import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';

const GIB = 1024 ** 3;
const SYNCS = 200;

export function machine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown CPU';
  return `${availableParallelism()} x ${model}, ${Math.round(totalmem() / GIB)} GiB, ${process.platform}, Node ${process.version}`;
}

/** What one durable write of 4 KiB costs in the folder: the physical limit under every figure. */
export function fsyncMs(folder: string): string {
  const own = mkdtempSync(`${folder}/walletd-fsync-`);
  const file = openSync(`${own}/file`, 'w');
  const page = Buffer.alloc(4096);
  const times: number[] = [];
  for (let i = 0; i < SYNCS; i++) {
    const startedAt = performance.now();
    writeSync(file, page);
    fdatasyncSync(file);
    times.push(performance.now() - startedAt);
  }
  closeSync(file);
  rmSync(own, { recursive: true });
  return median(times).toFixed(2);
}

/** Of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1);
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}

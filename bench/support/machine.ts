import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';

const GIB = 1024 ** 3;
const SYNCS = 200;
const PAUSE_MS = 1;

export function machine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown CPU';
  return `${availableParallelism()} x ${model}, ${Math.round(totalmem() / GIB)} GiB, ${process.platform}, Node ${process.version}`;
}

/**
 * Cost of one durable write of 4 KiB in the folder: the physical limit behind every figure. Returned as text with two
 * values, because on a virtual machine, a write to a disk that was idle for a millisecond can take ten times as long.
 */
export function describeFsync(folder: string): string {
  const own = mkdtempSync(`${folder}/walletd-fsync-`);
  const file = openSync(`${own}/file`, 'w');
  const busyMs = fsyncMs(file, 0);
  const idleMs = fsyncMs(file, PAUSE_MS);
  closeSync(file);
  rmSync(own, { recursive: true });
  return `${busyMs.toFixed(2)} ms, after a pause of ${PAUSE_MS} ms ${idleMs.toFixed(2)} ms`;
}

function fsyncMs(file: number, pauseMs: number): number {
  const page = Buffer.alloc(4096);
  const neverWoken = new Int32Array(new SharedArrayBuffer(4));
  const times: number[] = [];
  for (let i = 0; i < SYNCS; i++) {
    if (pauseMs > 0) Atomics.wait(neverWoken, 0, 0, pauseMs);
    const startedAt = performance.now();
    writeSync(file, page);
    fdatasyncSync(file);
    times.push(performance.now() - startedAt);
  }
  return median(times);
}

/** Median of the values. With an even number of values, the mean of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1);
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}

import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes that are still referenced after `run`, accurate to about 100 KB. */
export async function heldAfter(run: () => Promise<void>): Promise<number> {
  const before = await heldBytes();
  await run();
  return (await heldBytes()) - before;
}

async function heldBytes(): Promise<number> {
  // Collect several times, because memory outside the heap is freed in the background, after the collection that finds
  // it unused.
  for (let i = 0; i < 3; i++) {
    await delay(20);
    collect();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

import { type Generated, generate, type Load } from '../load/generate.js';
import { usedUs } from '../support/processor.js';
import type { Server } from '../support/servers.js';

/**
 * Load that uses a small fraction of the store's players. At the end, the bench compares the balance of each of these
 * players.
 */
const LOAD: Omit<Load, 'seconds'> = { mix: 'real', connections: 256, players: 1000, reopens: true, areFew: true };

export interface UnderLoad<T> {
  readonly result: Generated;
  readonly acted: T;
}

/** Runs an action while the load is measured, and waits for both. Throws if an answer or a balance was wrong. */
export async function underLoad<T>(
  server: Server,
  load: Pick<Load, 'seconds' | 'rate'> & Partial<Load>,
  act: () => Promise<T>,
): Promise<UnderLoad<T>> {
  let acting: Promise<T> | undefined;
  let isActing = true;
  const settled = () => {
    isActing = false;
  };
  const result = await generate(server, { ...LOAD, ...load, pieceSeconds: 1 }, undefined, () => {
    if (acting !== undefined) return;
    acting = act();
    acting.then(settled, settled);
  });
  if (acting === undefined) throw new Error('the load was too short for anything to happen');
  const isTooLate = isActing;
  const acted = await acting;
  if (isTooLate) throw new Error(`what was to happen under load took longer than the ${load.seconds} s of the load`);
  return { result, acted };
}

/** Processor time per answer of these processes, in microseconds. */
export async function processorUs(
  server: Server,
  load: Partial<Load> & Pick<Load, 'seconds'>,
  pids: readonly number[],
) {
  const pieces: { readonly us: number; readonly answers: number }[] = [];
  const result = await generate(server, { ...LOAD, ...load, pieceSeconds: 1 }, undefined, ({ count }) => {
    pieces.push({ us: usedUs(pids), answers: count });
  });
  const [first, last] = [pieces[0], pieces.at(-1)];
  if (first === undefined || last === undefined || first === last) throw new Error('two seconds are the least');
  const answers = pieces.slice(1).reduce((sum, piece) => sum + piece.answers, 0);
  return { result, us: (last.us - first.us) / answers };
}

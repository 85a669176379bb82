import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** How many of these are still held by somebody. */
export async function stillHeld(refs: readonly WeakRef<object>[]): Promise<number> {
  // What a WeakRef was made of or asked for is held until the end of that job.
  await nextTurn();
  collect();
  return refs.filter((ref) => ref.deref() !== undefined).length;
}

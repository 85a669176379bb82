import type { Message } from '../../src/simulate/message.js';
import { describeMessage } from '../repeats/describe-history.js';
import { Random } from '../simulation/random.js';
import type { Operator } from './player-client.js';

const SHRINKING_PLAYS_MAX = 400;
const SENDERS = 32;

/** A drawn case. Its history is shrunk if the property does not hold. */
export interface Drawn {
  readonly history: readonly Message[];
}

/** `says nothing` means that the case does not meet the property's precondition. */
export type Outcome = 'holds' | 'says nothing' | { readonly broken: string };

/** A statement that must hold for all histories. */
export interface Property<D extends Drawn = Drawn> {
  readonly title: string;
  draw(random: Random): D;
  check(operator: Operator, drawn: D): Promise<Outcome>;
}

export interface Held {
  readonly holds: number;
  readonly saysNothing: number;
}

/**
 * Draws and checks cases until `goesOn` returns false. If a case breaks the property, throws the shortest one found.
 */
export async function hold<D extends Drawn>(
  property: Property<D>,
  operator: Operator,
  firstSeed: number,
  goesOn: (cases: number) => boolean,
): Promise<Held> {
  const held = { holds: 0, saysNothing: 0 };
  let next = 0;
  let broken: { seed: number; drawn: D } | undefined;
  const send = async () => {
    while (broken === undefined && goesOn(next)) {
      const seed = firstSeed + next++;
      const drawn = property.draw(new Random(seed));
      const outcome = await property.check(operator, drawn);
      if (outcome === 'holds') held.holds++;
      else if (outcome === 'says nothing') held.saysNothing++;
      else broken ??= { seed, drawn };
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
  if (broken !== undefined) throw new Error(await explain(property, operator, broken.seed, broken.drawn));
  return held;
}

async function explain<D extends Drawn>(
  property: Property<D>,
  operator: Operator,
  seed: number,
  drawn: D,
): Promise<string> {
  let shortest = drawn;
  let why = 'the case did not fail again';
  let plays = 0;
  const fails = async (candidate: D): Promise<boolean> => {
    if (plays++ >= SHRINKING_PLAYS_MAX) return false;
    const outcome = await property.check(operator, candidate);
    if (typeof outcome === 'string') return false;
    shortest = candidate;
    why = outcome.broken;
    return true;
  };
  await fails(drawn);
  for (let size = drawn.history.length >> 1; size >= 1; ) {
    const hasShrunk = await dropChunks(shortest, size, fails);
    if (!hasShrunk || size > 1) size >>= 1;
  }
  const lines = shortest.history.map((message) => `  ${describeMessage(message)}`);
  return [`seed ${seed}: ${property.title}: broken`, ...lines, `  ${why.replaceAll('\n', '\n  ')}`].join('\n');
}

/** Drops chunks of this size, as long as the property stays broken. */
async function dropChunks<D extends Drawn>(
  drawn: D,
  size: number,
  fails: (candidate: D) => Promise<boolean>,
): Promise<boolean> {
  let shortest = drawn;
  for (let from = 0; from < shortest.history.length; ) {
    const history = shortest.history.toSpliced(from, size);
    const candidate = { ...shortest, history };
    if (await fails(candidate)) shortest = candidate;
    else from += size;
  }
  return shortest !== drawn;
}

import type { Random } from '../random.js';
import type { Sending } from '../sending.js';

/** The information that an attack needs about its target. */
export interface Aim {
  readonly bodyBytesMax: number;
  /** Secrets of a target that has signed callbacks and operator tokens. */
  readonly secrets?: Secrets;
}

export interface Secrets {
  /** The key that signs callbacks. */
  readonly signatureKey: string;
  /** The token of an operator with read access only. */
  readonly readToken: string;
}

/** A kind of attack. Creates connections that are opened at the same time. */
export interface Attack {
  readonly name: string;
  plan(random: Random, aim: Aim): readonly Sending[];
}

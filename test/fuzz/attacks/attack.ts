import type { Random } from '../random.js';
import type { Sending } from '../sending.js';

/** What an attack has to know of its target. */
export interface Aim {
  readonly bodyBytesMax: number;
  /** Where callbacks are to be signed and operators have tokens. */
  readonly secrets?: Secrets;
}

export interface Secrets {
  /** Signs callbacks. */
  readonly signatureKey: string;
  /** Of an operator who may only read. */
  readonly readToken: string;
}

/** A way to be rude: connections that are opened at the same time. */
export interface Attack {
  readonly name: string;
  plan(random: Random, aim: Aim): readonly Sending[];
}

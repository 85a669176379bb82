import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Side } from './side.js';

/** WIRE 1: two members prove to each other that they know the secret, without telling it. */
export interface Greeting {
  readonly wire: number;
  readonly storeId: string;
  readonly tag: string;
  /** Random. */
  readonly nonce: string;
}

const TAG = /^[0-9a-f]{8}$/;
const NONCE = /^[0-9a-f]{32}$/;

/** Undefined when it is none. Throws what `JSON.parse` does. */
export function maybeGreeting(text: string): Greeting | undefined {
  const { wire, storeId, tag, nonce } = JSON.parse(text) as Partial<Greeting>;
  const isOne =
    typeof wire === 'number' &&
    typeof storeId === 'string' &&
    typeof tag === 'string' &&
    typeof nonce === 'string' &&
    TAG.test(tag) &&
    NONCE.test(nonce);
  return isOne ? { wire, storeId, tag, nonce } : undefined;
}

/** What `mine` on this side proves to `theirs`: nobody else's proof, and none of another time, is the same. */
export function proofOf(secret: string, side: Side, mine: Greeting, theirs: Greeting): string {
  const about = JSON.stringify([side, mine.storeId, mine.tag, mine.nonce, theirs.tag, theirs.nonce]);
  return createHmac('sha256', secret).update(about).digest('hex');
}

/** Whether it is what `theirs`, on that side, proves to `mine`. */
export function isProof(proof: string, secret: string, side: Side, mine: Greeting, theirs: Greeting): boolean {
  const expected = Buffer.from(proofOf(secret, side, theirs, mine));
  const given = Buffer.from(proof);
  return expected.length === given.length && timingSafeEqual(expected, given);
}

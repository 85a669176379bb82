import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Side } from './side.js';

/** Hello of WIRE 1, with which two members prove to each other that they know the secret without sending it. */
export interface OldHello {
  readonly wire: number;
  readonly storeId: string;
  readonly tag: string;
  /** 16 random bytes, in hexadecimal digits. */
  readonly nonce: string;
}

const TAG = /^[0-9a-f]{8}$/;
const NONCE = /^[0-9a-f]{32}$/;

/** Parses a hello; undefined when the text is none. Throws what `JSON.parse` throws. */
export function parseHello(text: string): OldHello | undefined {
  const { wire, storeId, tag, nonce } = JSON.parse(text) as Partial<OldHello>;
  const isOne =
    typeof wire === 'number' &&
    typeof storeId === 'string' &&
    typeof tag === 'string' &&
    typeof nonce === 'string' &&
    TAG.test(tag) &&
    NONCE.test(nonce);
  return isOne ? { wire, storeId, tag, nonce } : undefined;
}

/** Proof of `mine`, on this side, to `theirs`. It differs for every sender and every link. */
export function proofOf(secret: string, side: Side, mine: OldHello, theirs: OldHello): string {
  const about = JSON.stringify([side, mine.storeId, mine.tag, mine.nonce, theirs.tag, theirs.nonce]);
  return createHmac('sha256', secret).update(about).digest('hex');
}

/** Whether this is the proof of `theirs`, on that side, to `mine`. */
export function isProof(proof: string, secret: string, side: Side, mine: OldHello, theirs: OldHello): boolean {
  const expected = Buffer.from(proofOf(secret, side, theirs, mine));
  const given = Buffer.from(proof);
  return expected.length === given.length && timingSafeEqual(expected, given);
}

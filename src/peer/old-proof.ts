import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Side } from './side.js';

/** Hello of WIRE 1, with which two members prove to each other that they know the secret without sending it. */
export interface OldHello {
  readonly wire: number;
  readonly storeId: string;
  readonly tag: string;
  /** 16 random bytes, as hexadecimal digits. */
  readonly nonce: string;
}

const TAG = /^[0-9a-f]{8}$/;
const NONCE = /^[0-9a-f]{32}$/;

/** Parses a hello; undefined if the text is not a hello. Throws if the text is not JSON. */
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

/**
 * Proof of the hello `mine`, sent by this side to the sender of `theirs`. It differs for every sender and every link.
 */
export function proofOf(secret: string, side: Side, mine: OldHello, theirs: OldHello): string {
  const about = JSON.stringify([side, mine.storeId, mine.tag, mine.nonce, theirs.tag, theirs.nonce]);
  return createHmac('sha256', secret).update(about).digest('hex');
}

/** True if this is the proof of the hello `theirs`, from that side, to the sender of `mine`. */
export function isProof(proof: string, secret: string, side: Side, mine: OldHello, theirs: OldHello): boolean {
  const expected = Buffer.from(proofOf(secret, side, theirs, mine));
  const given = Buffer.from(proof);
  return expected.length === given.length && timingSafeEqual(expected, given);
}

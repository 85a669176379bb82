import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Owner } from '../../ports/wal.js';

/** The identity of a process in the logs that it writes. */
export interface Identity {
  readonly owner: Owner;
  /** 8 random hexadecimal digits with which every nonce of this process begins. */
  readonly ownerTag: string;
}

const OWNER_TAG_BYTES = 4;
const NONCE_TAIL_BYTES = 4;

export function newIdentity(startedMs: number): Identity {
  return {
    owner: { host: hostname(), pid: process.pid, startedMs },
    ownerTag: randomBytes(OWNER_TAG_BYTES).toString('hex'),
  };
}

export function newNonceOf(ownerTag: string): string {
  return ownerTag + randomBytes(NONCE_TAIL_BYTES).toString('hex');
}

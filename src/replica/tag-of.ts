import type { Head } from '../ports/wal.js';

/** Number of leading hexadecimal digits of a nonce that identify its process. */
const TAG_LENGTH = 8;

/** The tag of the owner that wrote this head. Every nonce begins with its owner's tag. */
export function tagOf({ nonce }: Pick<Head, 'nonce'>): string {
  return nonce.slice(0, TAG_LENGTH);
}

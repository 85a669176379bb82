import type { KeyObject } from 'node:crypto';
import { sign } from '../../src/http/signature.js';

/** Placeholders, each as wide as the player or play number that replaces it. */
export const PLAYER_DIGITS = '#'.repeat(7);
export const PLAY_DIGITS = '@'.repeat(10);

const SIGNATURE_DIGITS = '0'.repeat(64);
const ZERO = '0'.charCodeAt(0);

/**
 * Bytes of a request, built once. Requests differ only in digits, which are written in place. Building JSON and headers
 * for each request would cost the generator several times as much.
 */
export class Template {
  readonly length: number;
  /** The range from the start of the body to the end of the request's ID. An answer begins with the same bytes. */
  readonly idFrom: number;
  readonly idTo: number;
  private readonly timestamp = String(Date.now());
  private readonly signatureFrom: number;
  private readonly bytes: Buffer;
  /** Positions where the player's digits end. */
  private readonly playerEnds: readonly number[];
  private readonly playEnds: readonly number[];

  /** Requests are not signed if there is no key. */
  constructor(
    path: string,
    request: { readonly id: string; readonly txns?: readonly object[] },
    private readonly key: KeyObject | undefined,
  ) {
    const body = JSON.stringify(request);
    const unsigned = `POST /${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
    const stamped = `${unsigned}sapi-timestamp: ${this.timestamp}\r\nsapi-signature: `;
    const head = `${key === undefined ? unsigned : `${stamped}${SIGNATURE_DIGITS}\r\n`}\r\n`;
    this.signatureFrom = stamped.length;
    const text = head + body;
    this.length = text.length;
    this.idFrom = head.length;
    this.idTo = head.length + body.indexOf(request.id) + request.id.length + 1;
    this.playerEnds = endsOf(PLAYER_DIGITS, text);
    this.playEnds = endsOf(PLAY_DIGITS, text);
    this.bytes = Buffer.from(text.replace(/[#@]/g, '0'), 'latin1');
  }

  /** Writes the request for this player and play to the start of `to`. */
  write(to: Buffer, player: number, play: number): void {
    this.bytes.copy(to);
    for (const end of this.playerEnds) putDigits(to, end, player);
    for (const end of this.playEnds) putDigits(to, end, play);
    if (this.key !== undefined) {
      const body = to.subarray(this.idFrom, this.length);
      to.write(sign(this.key, body, this.timestamp), this.signatureFrom, 'latin1');
    }
  }
}

function endsOf(digits: string, text: string): number[] {
  return [...text.matchAll(new RegExp(digits, 'g'))].map(({ index }) => index + digits.length);
}

function putDigits(to: Buffer, end: number, value: number): void {
  for (let rest = value, at = end - 1; rest > 0; rest = Math.floor(rest / 10), at--) to[at] = ZERO + (rest % 10);
}

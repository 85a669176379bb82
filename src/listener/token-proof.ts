import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';

/** The operator API path where a server proves that it knows a token. */
export const PROOF_PATH = '/v1/proof';
/** An error code of a server that can prove tokens but does not know this one. */
export const UNKNOWN_TOKEN = 'unknown-token';
const KEY_PURPOSE = 'walletd proof of a token 1';
const KEY_BYTES = 32;
const IPV4_IN_IPV6 = '::ffff:';

/**
 * Proofs that two ends know the same token, without sending any part of it. The tool proves its knowledge first, so
 * that an unknown client cannot use a server to test guessed tokens. The server's proof covers its own address. A
 * program that forwards the request to a different server gets a proof for that server's address.
 */
export class TokenProof {
  private readonly key: Buffer;

  constructor(token: string) {
    this.key = Buffer.from(hkdfSync('sha256', token, '', KEY_PURPOSE, KEY_BYTES));
  }

  ofTool(nonce: string): string {
    return this.sign('tool', nonce, '');
  }

  ofServer(nonce: string, address: string): string {
    return this.sign('server', nonce, address);
  }

  /** Signs the parts as JSON, so that different lists of parts never produce the same text. */
  private sign(...parts: readonly string[]): string {
    return createHmac('sha256', this.key).update(JSON.stringify(parts)).digest('base64url');
  }
}

/** Compares in constant time. */
export function isSameProof(given: string, wanted: string): boolean {
  const [bytes, other] = [Buffer.from(given), Buffer.from(wanted)];
  return bytes.length === other.length && timingSafeEqual(bytes, other);
}

/** Server's address as seen at the server's end of a connection. For the client, this is the remote address. */
export function localAddressOf({ localAddress, localPort }: Socket): string {
  return addressText(localAddress, localPort);
}

export function remoteAddressOf({ remoteAddress, remotePort }: Socket): string {
  return addressText(remoteAddress, remotePort);
}

function addressText(address = 'unknown', port = 0): string {
  const host = address.startsWith(IPV4_IN_IPV6) ? address.slice(IPV4_IN_IPV6.length) : address;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

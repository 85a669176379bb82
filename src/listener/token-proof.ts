import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';

/** Path of the operator API at which a server proves that it knows a token. */
export const PROOF_PATH = '/v1/proof';
/** Code of the refusal when the server can prove tokens but does not know this one. */
export const UNKNOWN_TOKEN = 'unknown-token';
const KEY_PURPOSE = 'walletd proof of a token 1';
const KEY_BYTES = 32;
const IPV4_IN_IPV6 = '::ffff:';

/**
 * Proofs that two ends know the same token, without sending any of it. The tool proves knowledge first, so that
 * strangers get nothing from a server to test guessed tokens against. The server's proof covers its own address. A
 * program that forwards the question to a server elsewhere gets a proof for that other address.
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

  /** Signs the parts as JSON, so that no two lists of parts have the same text. */
  private sign(...parts: readonly string[]): string {
    return createHmac('sha256', this.key).update(JSON.stringify(parts)).digest('base64url');
  }
}

/** Compares in constant time. */
export function isSameProof(given: string, wanted: string): boolean {
  const [bytes, other] = [Buffer.from(given), Buffer.from(wanted)];
  return bytes.length === other.length && timingSafeEqual(bytes, other);
}

/** Server's address at its own end of a connection; for the client, the server is the remote end. */
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

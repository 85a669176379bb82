import { createHmac } from 'node:crypto';

/*
 * Signatures of Standard Webhooks (https://www.standardwebhooks.com): HMAC-SHA256 of `ID.TIMESTAMP.BODY`. A secret is
 * `whsec_` and 24 to 64 bytes in Base64.
 */

const PREFIX = 'whsec_';
const BYTES_MIN = 24;
const BYTES_MAX = 64;

/** The key of a secret; undefined if the text is not a secret. */
export function parseSecret(text: string): Buffer | undefined {
  if (!text.startsWith(PREFIX)) return undefined;
  const encoded = text.slice(PREFIX.length);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return undefined;
  const key = Buffer.from(encoded, 'base64');
  return key.length >= BYTES_MIN && key.length <= BYTES_MAX ? key : undefined;
}

/** Headers of a request. While a secret is replaced, there are two keys, and the receiver accepts either signature. */
export function signedHeaders(
  keys: readonly Buffer[],
  id: string,
  timestampSeconds: number,
  body: string,
): Record<string, string> {
  const signed = `${id}.${timestampSeconds}.${body}`;
  const signatures = keys.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures.join(' '),
  };
}

import { createSecretKey } from 'node:crypto';
import { sign } from '../../../src/http/signature.js';
import { realCallback } from '../callbacks.js';
import { requestBytes } from '../http-request.js';
import type { Random } from '../random.js';
import { sending } from '../sending.js';
import type { Attack } from './attack.js';

const REQUESTS_MAX = 10;
const HEX = '0123456789abcdef';
const DAY_MS = 86_400_000;

interface Signed {
  readonly body: Buffer;
  readonly timestamp: string;
  readonly signature: string;
}

type Forgery = (random: Random, signed: Signed) => Partial<Signed>;

/** Ways to forge a signed request without its key. */
const FORGERIES: readonly Forgery[] = [
  (random) => ({ signature: random.text(64, HEX) }),
  (random, { signature }) => ({ signature: flippedDigit(random, signature) }),
  (random, { signature }) => ({ signature: signature.slice(0, random.between(0, 63)) }),
  (random, { signature }) => ({ signature: signature + random.text(random.between(1, 64), HEX) }),
  (_, { signature }) => ({ signature: `${signature}, ${signature}` }),
  (_, { signature }) => ({ signature: Buffer.from(signature, 'hex').toString('base64') }),
  (random) => ({ signature: random.pick(['', '0', 'null', '\xff'.repeat(64), '0'.repeat(64), 'g'.repeat(64)]) }),
  (random, { timestamp }) => ({ timestamp: String(Number(timestamp) + random.pick([-1, 1, DAY_MS, -DAY_MS])) }),
  (random, { timestamp }) => ({
    timestamp: random.pick([`0${timestamp}`, `${timestamp}.0`, `${timestamp}0`, '', 'NaN', '1e12']),
  }),
  (random, { body }) => ({ body: Buffer.concat([body, Buffer.from(random.pick([' ', '\n', '\0', '.']))]) }),
  (_, { body }) => ({ body: body.subarray(0, -1) }),
  (random, { body }) => ({
    body: Buffer.from(body.map((byte, n) => (n === body.length >> 1 ? byte ^ (1 << random.between(0, 7)) : byte))),
  }),
  // Moves the full stop between body and time by one character.
  (_, { body, timestamp }) => ({ body: Buffer.concat([body, Buffer.from('.')]), timestamp }),
  (_, { body, timestamp }) => ({
    body: Buffer.concat([body, Buffer.from(`.${timestamp.slice(0, -1)}`)]),
    timestamp: timestamp.slice(-1),
  }),
];

/**
 * Requests with nearly correct signatures. Their timestamps are current, because they would otherwise be refused for
 * that reason. Only the timestamps do not come from the seed.
 */
export const forgedSignatures: Attack = {
  name: 'forged signatures',
  plan: (random, { secrets }) => {
    if (secrets === undefined) return [];
    const key = createSecretKey(secrets.signatureKey, 'utf8');
    const requests = random.list(random.between(1, REQUESTS_MAX), () => {
      const { endpoint, body } = realCallback(random);
      const bytes = Buffer.from(JSON.stringify(body));
      const timestamp = String(Date.now());
      const signed = { body: bytes, timestamp, signature: sign(key, bytes, timestamp) };
      return { method: 'POST', target: `/${endpoint}`, ...signed, ...random.pick(FORGERIES)(random, signed) };
    });
    const parts = requests.map(({ method, target, body, timestamp, signature }) =>
      requestBytes(method, target, body, [`sapi-timestamp: ${timestamp}`, `sapi-signature: ${signature}`]),
    );
    return [sending('callbacks', parts, { requests, pause: 'answered' })];
  },
};

function flippedDigit(random: Random, signature: string): string {
  const at = random.between(0, signature.length - 1);
  const other = HEX[(HEX.indexOf(signature[at] as string) + random.between(1, 15)) % HEX.length];
  return signature.slice(0, at) + other + signature.slice(at + 1);
}

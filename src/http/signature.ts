import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { formatSpan } from '../base/time.js';

/** Secret that the platform may use for signing. */
export interface SignatureKey {
  /** The human-readable name of the key. */
  readonly id: string;
  readonly secret: KeyObject;
}

/** Why a request is not accepted as coming from the platform. */
export interface Unsigned {
  /** One of a small, fixed set of reasons, by which refusals are counted. */
  readonly reason:
    | 'no sapi-signature header'
    | 'no sapi-timestamp header'
    | 'sapi-signature is not 64 hexadecimal digits'
    | 'sapi-timestamp is not in milliseconds since 1970'
    | 'timestamp too far from now'
    | 'wrong signature';
  /** A human-readable description of the received headers. */
  readonly detail?: string;
}

export const WRONG_SIGNATURE: Unsigned = { reason: 'wrong signature' };

const ID = /^[\w.-]{1,64}$/;
const SECRET_LENGTH_MIN = 16;
const SIGNATURE_LENGTH = 64;
const TIMESTAMP = /^\d{1,15}$/;

// Comparisons are synchronous, so all of them can share these buffers.
const expected = Buffer.alloc(SIGNATURE_LENGTH);
const given = Buffer.alloc(SIGNATURE_LENGTH);

/**
 * Parses keys from the settings: `ID:SECRET`, separated by blanks or line ends. Lines that begin with # are comments.
 * Throws an `Error` that says which key is wrong but never repeats a key.
 */
export function parseKeys(text: string): readonly SignatureKey[] {
  const words = text
    .split(/\r?\n/)
    .filter((line) => !line.trimStart().startsWith('#'))
    .flatMap((line) => line.split(/\s+/))
    .filter((word) => word !== '');
  const keys = words.map(toKey);
  if (keys.length === 0) throw new Error('there is no key');
  const twice = keys.find(({ id }, n) => keys.findIndex((key) => key.id === id) < n);
  if (twice !== undefined) throw new Error(`two keys have the id ${twice.id}`);
  return keys;
}

/** The signature of a request: hex(HMAC-SHA256(secret, body + "." + timestamp)); see docs/decisions.md section 6. */
export function sign(secret: KeyObject, body: Uint8Array, timestamp: string): string {
  return createHmac('sha256', secret).update(body).update(`.${timestamp}`).digest('hex');
}

/** Valid keys in settings order. For speed, list the most used key first. */
export class Signatures {
  /** Number of requests signed with each key, in key order. A key whose count no longer changes can be withdrawn. */
  private readonly uses: number[];

  constructor(
    private readonly keys: readonly SignatureKey[],
    private readonly maxSkewMs: number,
  ) {
    this.uses = keys.map(() => 0);
  }

  /** Continues the counts of keys with the same IDs. */
  countFrom(usesByKey: Readonly<Record<string, number>>): void {
    this.keys.forEach(({ id }, n) => {
      this.uses[n] = Object.hasOwn(usesByKey, id) ? (usesByKey[id] as number) : 0;
    });
  }

  get usesByKey(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.keys.map(({ id }, n) => [id, this.uses[n] ?? 0]));
  }

  /** Checks everything that can be checked before the body arrives. An empty string stands for a missing header. */
  claim(timestamp: string, signature: string, nowMs: number): SignatureClaim | Unsigned {
    if (signature.length !== SIGNATURE_LENGTH || !TIMESTAMP.test(timestamp)) return malformed(timestamp, signature);
    const skewMs = Number(timestamp) - nowMs;
    if (Math.abs(skewMs) > this.maxSkewMs) {
      const detail = `${formatSpan(Math.abs(skewMs))} ${skewMs < 0 ? 'behind' : 'ahead'}, ${this.maxSkewMs} ms are allowed`;
      return { reason: 'timestamp too far from now', detail };
    }
    return new SignatureClaim(this, timestamp, signature.toLowerCase());
  }

  /**
   * Compares the signature with those of all valid keys. Takes the same time regardless of where a signature differs.
   */
  isSigned(body: Uint8Array, timestamp: string, signature: string): boolean {
    given.write(signature, 'latin1');
    for (let n = 0; n < this.keys.length; n++) {
      expected.write(sign((this.keys[n] as SignatureKey).secret, body, timestamp), 'latin1');
      if (timingSafeEqual(expected, given)) {
        this.uses[n] = (this.uses[n] as number) + 1;
        return true;
      }
    }
    return false;
  }
}

/** A request's signature headers, to be checked against the keys that were valid when the headers arrived. */
export class SignatureClaim {
  constructor(
    private readonly signatures: Signatures,
    private readonly timestamp: string,
    private readonly signature: string,
  ) {}

  isProvenBy(body: Uint8Array): boolean {
    return this.signatures.isSigned(body, this.timestamp, this.signature);
  }
}

function toKey(word: string, n: number): SignatureKey {
  const [, id = '', secret = ''] = /^([^:]*):(.*)$/s.exec(word) ?? [];
  if (!ID.test(id)) throw new Error(`key ${n + 1} is not ID:SECRET`);
  if (secret.length < SECRET_LENGTH_MIN)
    // The message omits the ID, which is the secret if the setting was written as SECRET:ID.
    throw new Error(`the secret of key ${n + 1} has fewer than ${SECRET_LENGTH_MIN} characters`);
  // The ID appears in metrics and logs, which would expose the secret if ID and secret were swapped.
  if (id.length > secret.length) throw new Error(`the id of key ${n + 1} is longer than its secret: is it SECRET:ID?`);
  return { id, secret: createSecretKey(secret, 'utf8') };
}

const SHOWN_LENGTH_MAX = 40;

/**
 * Describes malformed headers. Platforms write signatures and times in different ways, and their developers need to see
 * which form arrived.
 */
function malformed(timestamp: string, signature: string): Unsigned {
  if (signature === '') return { reason: 'no sapi-signature header' };
  if (signature.length !== SIGNATURE_LENGTH) {
    const detail = `${signature.length} characters${formOf(signature)}`;
    return { reason: 'sapi-signature is not 64 hexadecimal digits', detail };
  }
  if (timestamp === '') return { reason: 'no sapi-timestamp header' };
  return {
    reason: 'sapi-timestamp is not in milliseconds since 1970',
    detail: `it is ${JSON.stringify(timestamp.slice(0, SHOWN_LENGTH_MAX))}`,
  };
}

function formOf(signature: string): string {
  if (/^[\w-]+=[0-9a-f]{64}$/i.test(signature))
    return `, with ${JSON.stringify(signature.replace(/=.*/, '='))} in front`;
  return /^[\w+/-]{43}=?$/.test(signature) ? ', as in base64' : '';
}

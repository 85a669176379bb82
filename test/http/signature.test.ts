import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { test } from 'node:test';
import { parseKeys, SignatureClaim, Signatures, sign } from '../../src/http/signature.js';

const NOW_MS = 1_763_600_000_000;
const NOW = String(NOW_MS);
const SKEW_MS = 300_000;
const BODY = Buffer.from('{"id":"req-1"}');
const KEYS = parseKeys('old:0123456789abcdef-first new:0123456789abcdef-second');

function signedWith(n: number, body: Buffer = BODY, timestamp = NOW): string {
  const key = KEYS[n];
  assert.ok(key);
  return sign(key.secret, body, timestamp);
}

function isTaken(signatures: Signatures, body: Buffer, timestamp: string, signature: string): boolean | string {
  const claim = signatures.claim(timestamp, signature, NOW_MS);
  return claim instanceof SignatureClaim ? claim.isProvenBy(body) : claim.reason;
}

test('sapi-signature is hex(HMAC-SHA256(key, rawBody + "." + timestamp)), as openssl computes it', () => {
  // printf '%s.%s' '{"id":"req-1"}' 1763600000000 | openssl dgst -sha256 -hmac 0123456789abcdef-first
  assert.equal(signedWith(0), 'fb497562ff12db9855e76c73d7ad121cd9cf8e7bda42209ccf6eb5df266ef0ee');
});

test('the RFC 4231 test vectors hold for texts that end with a period', () => {
  const secret = createSecretKey(Buffer.alloc(131, 0xaa));
  const text =
    'This is a test using a larger than block-size key and a larger than block-size data. ' +
    'The key needs to be hashed before being used by the HMAC algorithm';
  const expected = '9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2';
  assert.equal(sign(secret, Buffer.from(text), ''), expected);
});

test('a key written as SECRET:ID is refused and not repeated', () => {
  assert.throws(
    () => parseKeys('a-secret-of-32-characters-0123456:0123456789abcdef'),
    (error: Error) =>
      /key 1 is longer than its secret: is it SECRET:ID/.test(error.message) && !/0123/.test(error.message),
  );
});

test("several keys may be valid at once, and each one's uses are counted", () => {
  const signatures = new Signatures(KEYS, SKEW_MS);
  assert.equal(isTaken(signatures, BODY, NOW, signedWith(0)), true);
  assert.equal(isTaken(signatures, BODY, NOW, signedWith(1)), true);
  assert.equal(isTaken(signatures, BODY, NOW, signedWith(1).toUpperCase()), true);
  assert.deepEqual(signatures.usesByKey, { old: 1, new: 2 });
  const rotated = new Signatures(KEYS.slice(1), SKEW_MS);
  assert.equal(isTaken(rotated, BODY, NOW, signedWith(0)), false);
});

test('each byte of the body, the time and the signature matters', () => {
  const signatures = new Signatures(KEYS, SKEW_MS);
  const signature = signedWith(0);
  for (let n = 0; n < BODY.length; n++) {
    const other = Buffer.from(BODY);
    other[n] = (other[n] as number) ^ 1;
    assert.equal(isTaken(signatures, other, NOW, signature), false);
  }
  for (let n = 0; n < signature.length; n++) {
    const other = signature.slice(0, n) + (signature[n] === '0' ? '1' : '0') + signature.slice(n + 1);
    assert.equal(isTaken(signatures, BODY, NOW, other), false);
  }
  assert.equal(isTaken(signatures, BODY, String(NOW_MS + 1), signature), false);
  assert.equal(isTaken(signatures, Buffer.concat([BODY, Buffer.from(' ')]), NOW, signature), false);
});

test('a body is signed as bytes, even if they are not valid text', () => {
  const signatures = new Signatures(KEYS, SKEW_MS);
  const bytes = Buffer.from([0xff, 0, 0x80, 0x2e]);
  assert.equal(isTaken(signatures, bytes, NOW, signedWith(0, bytes)), true);
  assert.equal(isTaken(signatures, Buffer.alloc(0), NOW, signedWith(0, Buffer.alloc(0))), true);
});

test('a timestamp more than signature.maxSkewMs early or late is refused', () => {
  const signatures = new Signatures(KEYS, SKEW_MS);
  for (const [offsetMs, taken] of [
    [SKEW_MS, true],
    [-SKEW_MS, true],
    [SKEW_MS + 1, 'timestamp too far from now'],
    [-SKEW_MS - 1, 'timestamp too far from now'],
  ] as const) {
    const timestamp = String(NOW_MS + offsetMs);
    assert.equal(isTaken(signatures, BODY, timestamp, signedWith(0, BODY, timestamp)), taken);
  }
});

test('a malformed signature or time is reported before the body arrives', () => {
  const signatures = new Signatures(KEYS, SKEW_MS);
  const signature = signedWith(0);
  const reasonOf = (timestamp: string, given: string) => {
    const claim = signatures.claim(timestamp, given, NOW_MS);
    return claim instanceof SignatureClaim ? 'taken' : `${claim.reason}: ${claim.detail}`;
  };
  const wrongForm = 'sapi-signature is not 64 hexadecimal digits';
  const wrongTime = 'sapi-timestamp is not in milliseconds since 1970';
  const base64 = Buffer.from(signature, 'hex').toString('base64');
  for (const [timestamp, given, reason] of [
    ['', signature, 'no sapi-timestamp header: undefined'],
    [NOW, '', 'no sapi-signature header: undefined'],
    ['', '', 'no sapi-signature header: undefined'],
    [NOW, signature.slice(1), `${wrongForm}: 63 characters`],
    [NOW, `${signature}0`, `${wrongForm}: 65 characters`],
    [NOW, base64, `${wrongForm}: 44 characters, as in base64`],
    [NOW, `sha256=${signature}`, `${wrongForm}: 71 characters, with "sha256=" in front`],
    ['soon', signature, `${wrongTime}: it is "soon"`],
    ['1e12', signature, `${wrongTime}: it is "1e12"`],
    ['2026-11-27T04:00:00Z', signature, `${wrongTime}: it is "2026-11-27T04:00:00Z"`],
    ['-1763600000000', signature, `${wrongTime}: it is "-1763600000000"`],
    [String(NOW_MS - 3_600_000), signature, 'timestamp too far from now: 3600 s behind, 300000 ms are allowed'],
  ] as const) {
    assert.equal(reasonOf(timestamp, given), reason);
  }
  assert.equal(isTaken(signatures, BODY, NOW, 'z'.repeat(64)), false);
});

test('keys are ID:SECRET, separated by blanks or line ends, with comments', () => {
  const text = '# from the back office\r\nnow:0123456789:abcdef\n\n  next:fedcba9876543210\tthird:0000000000000000\n';
  assert.deepEqual(
    parseKeys(text).map(({ id, secret }) => [id, secret.export().toString()]),
    [
      ['now', '0123456789:abcdef'],
      ['next', 'fedcba9876543210'],
      ['third', '0000000000000000'],
    ],
  );
});

test('an invalid key is reported, but no secret is repeated', () => {
  const secret = 'hunter2-hunter2-hunter2';
  const refused = (text: string, sentence: string) => assert.throws(() => parseKeys(text), { message: sentence }, text);
  refused(secret, 'key 1 is not ID:SECRET');
  refused(`a:${secret} ${secret}`, 'key 2 is not ID:SECRET');
  refused(`:${secret}`, 'key 1 is not ID:SECRET');
  refused(`a:${secret} a:${secret}`, 'two keys have the id a');
  refused('a:hunter2', 'the secret of key 1 has fewer than 16 characters');
  refused(`${secret}:now`, 'the secret of key 1 has fewer than 16 characters');
  refused(' \n# nothing\n', 'there is no key');
});

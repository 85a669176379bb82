import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseSecret, signedHeaders } from '../../src/push/webhook-signature.js';

/** Example from the specification of Standard Webhooks, also in the tests of its libraries. */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const ID = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
const TIMESTAMP = 1_614_265_330;
const BODY = '{"test": 2432232314}';

const headers = signedHeaders([parseSecret(SECRET) as Buffer], ID, TIMESTAMP, BODY);

test('the signature equals that in the example of Standard Webhooks', () => {
  assert.equal(headers['webhook-signature'], 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

test('a secret needs its prefix and 24 to 64 bytes', () => {
  const encoded = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`;
  assert.deepEqual(
    [24, 64].map((bytes) => parseSecret(encoded(bytes))?.length),
    [24, 64],
  );
  for (const text of [encoded(23), encoded(65), encoded(32).slice(6), 'whsec_!!!!', '']) {
    assert.equal(parseSecret(text), undefined, text);
  }
});

type IsGenuine = (secret: string, headers: object, rawBody: string, nowMs?: number) => boolean;

test('the code on the page accepts genuine requests and no others', async () => {
  const page = readFileSync(new URL('../../../docs/feed-sinks.md', import.meta.url), 'utf8');
  const [, code = ''] = /```js\n([\s\S]*?)```/.exec(page) ?? [];
  const { isGenuine } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as { isGenuine: IsGenuine };
  const nowMs = TIMESTAMP * 1000;
  assert.ok(isGenuine(SECRET, headers, BODY, nowMs));
  const rotated = { ...headers, 'webhook-signature': `v1,${'A'.repeat(43)}= ${headers['webhook-signature']}` };
  assert.ok(isGenuine(SECRET, rotated, BODY, nowMs));
  assert.ok(!isGenuine(SECRET, headers, `${BODY} `, nowMs));
  assert.ok(!isGenuine(SECRET, { ...headers, 'webhook-id': 'msg_other' }, BODY, nowMs));
  assert.ok(!isGenuine(SECRET, headers, BODY, nowMs + 300_000));
  assert.ok(!isGenuine(`whsec_${Buffer.alloc(24).toString('base64')}`, headers, BODY, nowMs));
});

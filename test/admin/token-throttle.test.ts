import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenThrottle } from '../../src/admin/token-throttle.js';
import { TestNode } from '../support/test-node.js';

function throttleWithClock() {
  let nowMs = 0;
  let token = 0;
  const throttle = new TokenThrottle({ now: () => nowMs, monotonicMs: () => nowMs });
  const fail = (address: string, times: number) => {
    for (let n = 0; n < times; n++) throttle.noteWrong(address, `wrong-${token++}`);
  };
  return {
    throttle,
    fail,
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

test('ten wrong tokens block one address for the rest of the minute', () => {
  const { throttle, fail, pass } = throttleWithClock();
  fail('192.0.2.1', 9);
  assert.equal(throttle.isClosedFor('192.0.2.1'), false);
  fail('192.0.2.1', 1);
  assert.deepEqual([throttle.isClosedFor('192.0.2.1'), throttle.isClosedFor('192.0.2.2')], [true, false]);
  pass(59_999);
  assert.equal(throttle.isClosedFor('192.0.2.1'), true);
  pass(1);
  assert.equal(throttle.isClosedFor('192.0.2.1'), false);
  fail('192.0.2.1', 9);
  assert.equal(throttle.isClosedFor('192.0.2.1'), false, 'it counts from the beginning again');
});

test('an IPv6 /64 network counts as one address', () => {
  const { throttle, fail } = throttleWithClock();
  for (let n = 0; n < 10; n++) fail(`2001:db8:0:1::${n.toString(16)}`, 1);
  assert.equal(throttle.isClosedFor('2001:db8:0:1:ffff::1'), true);
  assert.equal(throttle.isClosedFor('2001:db8:0:2::1'), false);
});

test('an IPv4-mapped IPv6 address counts as its IPv4 address', () => {
  const { throttle, fail } = throttleWithClock();
  fail('::ffff:198.51.100.7', 5);
  fail('198.51.100.7', 5);
  assert.equal(throttle.isClosedFor('::ffff:192.0.2.2'), false);
  assert.equal(throttle.isClosedFor('::ffff:198.51.100.7'), true);
});

test('sending the same wrong token repeatedly does not count as guessing', () => {
  const { throttle } = throttleWithClock();
  for (let n = 0; n < 1000; n++) throttle.noteWrong('192.0.2.1', 'an-old-token-of-anna');
  assert.equal(throttle.isClosedFor('192.0.2.1'), false);
});

test('the number of remembered addresses is bounded', () => {
  const { throttle, fail } = throttleWithClock();
  fail('192.0.2.1', 10);
  for (let n = 0; n < 20_000; n++) fail(`10.0.${n >> 8}.${n & 255}`, 1);
  assert.equal(throttle.size, 10_000);
  assert.equal(throttle.isClosedFor('192.0.2.1'), false, 'it began longest ago');
});

test('the console answers 429 after too many attempts, but existing sessions continue', async () => {
  const token = 'a-token-of-anna-alone';
  const node = await TestNode.start({ 'admin.tokens': [{ name: 'anna', role: 'operate', token }] });
  try {
    const signIn = (given: string, forwarded?: string) =>
      fetch(`${node.adminUrl}/console/session`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...(forwarded && { 'X-Forwarded-For': forwarded }) },
        body: JSON.stringify({ token: given }),
      });
    const session = await signIn(token);
    assert.equal(session.status, 200);
    const cookie = (session.headers.get('set-cookie') ?? '').split(';')[0] as string;
    for (let n = 0; n < 10; n++) assert.equal((await signIn(`wrong-${n}`, '198.51.100.7, 192.0.2.1')).status, 401);
    const refused = await signIn(token, '203.0.113.9, 192.0.2.1');
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '60']);
    assert.equal(((await refused.json()) as { code: string }).code, 'too-many-attempts');
    assert.equal((await signIn(token, '192.0.2.2')).status, 200, 'another one behind the same proxy');
    assert.equal((await signIn(token)).status, 200, 'this machine itself');
    assert.equal((await fetch(`${node.adminUrl}/v1/players`, { headers: { Cookie: cookie } })).status, 200);
  } finally {
    await node.close();
  }
});

test('guesses in API calls and sign-ins are counted together; correct tokens still work', async () => {
  const token = 'a-token-of-anna-alone';
  const node = await TestNode.start({ 'admin.tokens': [{ name: 'anna', role: 'operate', token }] });
  try {
    const call = async (given: string, forwarded = '192.0.2.1') => {
      const headers = { Authorization: `Bearer ${given}`, 'X-Forwarded-For': forwarded };
      const response = await fetch(`${node.adminUrl}/v1/players`, { headers });
      await response.body?.cancel();
      return response;
    };
    const signIn = (given: string) =>
      fetch(`${node.adminUrl}/console/session`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': '192.0.2.1' },
        body: JSON.stringify({ token: given }),
      });
    for (let n = 0; n < 5; n++) assert.equal((await call(`wrong-${n}`)).status, 401);
    for (let n = 5; n < 10; n++) assert.equal((await signIn(`wrong-${n}`)).status, 401);
    const refused = await call('wrong-11');
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '60']);
    assert.equal((await signIn(token)).status, 429);
    assert.equal((await call(token)).status, 200, 'a right token passes');
    assert.equal((await call('wrong-12', '192.0.2.2')).status, 401, 'another one behind the same proxy');
  } finally {
    await node.close();
  }
});

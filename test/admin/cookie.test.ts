import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { SessionCookie } from '../../src/admin/console/cookie.js';

const request = (headers: Readonly<Record<string, string>>) => ({ headers }) as unknown as FastifyRequest;

test('with TLS, a cookie that a sibling domain may have set is ignored', () => {
  const cookie = 'walletd-00000000=evil; __Host-walletd-00000000=good';
  const behindTls = new SessionCookie('0000000000', true);
  assert.equal(behindTls.of(request({ cookie })), 'good');
  assert.equal(behindTls.of(request({ cookie: 'walletd-00000000=evil' })), undefined);
  const plain = new SessionCookie('0000000000', false);
  assert.equal(plain.of(request({ cookie, 'x-forwarded-proto': 'https' })), 'good', 'a proxy has the TLS');
  assert.equal(plain.of(request({ cookie: 'walletd-00000000=own' })), 'own');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../../src/simulate/client.js';
import type { Message } from '../../src/simulate/message.js';
import { Platform } from '../../src/simulate/platform.js';
import { misshapesOf, statedIn } from '../../src/simulate/reply.js';

const PLAYER = { username: 'ann', currency: 'THB', balance: 1000 };
const BET = new Platform().bet('b1', 100);
const UNSIGNED: Message = { ...BET, signature: 'missing', refusal: 30002 };

const replied = (fields: Readonly<Record<string, unknown>>, status = 200): Reply => ({ status, fields, text: '' });
const success = { id: 'q1', statusCode: 0, timestampMillis: 1, productId: 'P', currency: 'THB', username: 'ann' };
const balances = { balanceBefore: 1000, balanceAfter: 900 };
const faults = (message: Message, fields: Readonly<Record<string, unknown>>) =>
  misshapesOf(message, PLAYER, 'P', replied(fields));

test('all faults of an answer are reported, not only the first', () => {
  const { currency, ...others } = success;
  assert.deepEqual(faults(BET, { ...others, username: 'bob', balanceBefore: '1000', balanceAfter: 900 }), [
    'the answer has no currency',
    'numbers are sent as text',
    'username is "bob", and the request has "PLAYER"',
  ]);
  assert.deepEqual(faults(BET, { ...success, ...balances }), []);
});

test("an answer is compared with its request, not with the case's player", () => {
  const stranger = { ...BET, envelope: { username: 'nobody' } };
  assert.deepEqual(faults(stranger, { ...success, ...balances, username: 'nobody' }), []);
  assert.deepEqual(faults(stranger, { ...success, ...balances }), [
    'username is "PLAYER", and the request has "nobody"',
  ]);
});

test('an unsigned request counts as refused if only the HTTP status refuses it', () => {
  assert.deepEqual(statedIn(UNSIGNED, replied({ message: 'Unauthorized' }, 401), 2), { code: 30002 });
  assert.deepEqual(statedIn(UNSIGNED, replied({ statusCode: 403 }, 403), 2), { code: 30002 });
  assert.deepEqual(statedIn(UNSIGNED, replied({ statusCode: 20001 }, 400), 2), { code: 20001 });
  assert.equal(statedIn(UNSIGNED, replied({ ...success, ...balances }), 2).code, 0);
  assert.ok(Number.isNaN(statedIn(BET, replied({}, 401), 2).code));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guessUsername } from '../../src/callback/guess-username.js';
import { bet } from '../support/client.js';

test('the username is guessed correctly in all requests that platforms send', () => {
  assert.equal(guessUsername(JSON.stringify(bet('ann', 'b1'))), 'ann');
  assert.equal(guessUsername(JSON.stringify(bet('ann', 'b1'), undefined, 2)), 'ann', 'with spaces');
  assert.equal(guessUsername(JSON.stringify(bet('สมชาย', 'b1'))), 'สมชาย', 'beyond ASCII');
  assert.equal(guessUsername('{"username":"\\u0e2a\\u0e21ชาย"}'), 'สมชาย', 'with escapes, as some libraries write it');
  assert.equal(guessUsername(JSON.stringify(bet('', 'b1'))), '');
});

test('a text without a complete name gives an empty guess', () => {
  for (const text of ['', '{}', '{"username"', '{"username":', '{"username":1}', '{"username":"ann']) {
    assert.equal(guessUsername(text), '', text);
  }
  assert.equal(guessUsername('{"username":"\\x"}'), '\\x', 'no escape that there is');
});

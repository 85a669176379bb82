import assert from 'node:assert/strict';
import { test } from 'node:test';
import { concealed } from '../../src/config/in-force.js';

test('the password in an address is never shown, however the address is spelled', () => {
  for (const address of [
    'redis://u:secret-pw@h:6379/0',
    'reddis://u:secret-pw@h:6379/0',
    'redis//u:secret-pw@h:6379',
    'redis:/u:secret-pw@h',
    'u:secret-pw@h:6379',
    'redis://:secret-pw@h',
    'redis://u:a/secret-pw@h',
    'redis://u:a@secret-pw@h',
  ]) {
    const shown = concealed(`ENOENT: no such file, stat '${address}'`);
    assert.ok(!shown.includes('secret-pw'), shown);
    assert.ok(shown.includes('@h'), shown);
  }
});

test('messages without credentials are unchanged', () => {
  const message =
    'EADDRINUSE: address already in use 127.0.0.1:3000, see ops@example.org, or redis://user:password@host';
  assert.equal(concealed(message), message);
});

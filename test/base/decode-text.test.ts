import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeText } from '../../src/base/decode-text.js';

test('a byte order mark of UTF-8 is no part of a text', () => {
  assert.equal(decodeText(Buffer.from('\uFEFF{"é":1}')), '{"é":1}');
  assert.equal(decodeText(Buffer.from('{"é":1}')), '{"é":1}');
  assert.equal(decodeText(Buffer.alloc(0)), '');
});

test('other encodings are refused by their names', () => {
  assert.throws(() => decodeText(Buffer.from('\uFEFF{}', 'utf16le')), /it is UTF-16: save it as UTF-8/);
  assert.throws(() => decodeText(Buffer.from('{"é":1}', 'latin1')), /it is not UTF-8: save it as UTF-8/);
});

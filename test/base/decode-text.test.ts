import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeText } from '../../src/base/decode-text.js';

test('a UTF-8 byte order mark is not part of the text', () => {
  assert.equal(decodeText(Buffer.from('\uFEFF{"é":1}')), '{"é":1}');
  assert.equal(decodeText(Buffer.from('{"é":1}')), '{"é":1}');
  assert.equal(decodeText(Buffer.alloc(0)), '');
});

test('other encodings are refused by name', () => {
  assert.throws(() => decodeText(Buffer.from('\uFEFF{}', 'utf16le')), /it is UTF-16: save it as UTF-8/);
  assert.throws(() => decodeText(Buffer.from('{"é":1}', 'latin1')), /it is not UTF-8: save it as UTF-8/);
});

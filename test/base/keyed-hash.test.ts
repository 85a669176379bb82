import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HashKey, keyedHash } from '../../src/base/keyed-hash.js';

const KEY: HashKey = { low: 0x03020100, high: 0x07060504 };
/**
 * HalfSipHash-1-3 hashes of the first 8 to 63 bytes of the sequence 0, 1, 2 and so on, copied from
 * lib/tests/siphash_kunit.c in Linux.
 */
const LINUX = `
  577999b1 c839caed e4fa32cf 959246ee 6b28096c 66dd9cd6 16658a7c d0257b04
  8b31d501 2b1cd04b 06712339 522aca67 911bb605 90a65f0e f826ef7b 62512deb
  57150ad7 5d473507 1ec47442 ab64afd3 0a4100d0 6d2ce652 2331b6a3 08d8791a
  bc6dda8d e0f6c934 b0652033 9b9851cc 7c46fb7f 732ba8cb f142997a fcc9aa1b
  05327eb2 e110131c f9e5e7c0 a7d708a6 11795ab1 65671619 9f5fff91 d89c5267
  007783eb 95766243 ab639262 9c7e1390 c368dda6 38ddc455 fa13d379 979ea4e8
  53ecd77e 2ee80657 33dbb66a ae3f0577 88b4c4cc 3e7f480b 74c1ebf8 87178304`;

test('the keyed hash equals HalfSipHash-1-3 in Linux', () => {
  const message = Buffer.from(Array.from({ length: 64 }, (_, i) => i));
  const [first, second] = [message.readInt32LE(0), message.readInt32LE(4)];
  for (const [i, hash] of LINUX.trim().split(/\s+/).entries()) {
    assert.equal(keyedHash(KEY, first, second, message, 8, 8 + i), Number.parseInt(hash, 16), `${8 + i} bytes`);
  }
});

test('every bit of key, words and text changes the hash', () => {
  const text = Buffer.from('round-1');
  const hashes = new Set<number>();
  const note = (key: HashKey, first: number, second: number, bytes: Buffer) => {
    hashes.add(keyedHash(key, first, second, bytes, 0, bytes.length));
  };
  note(KEY, 1, 2, text);
  for (let bit = 0; bit < 32; bit++) {
    const mask = 1 << bit;
    note({ ...KEY, low: KEY.low ^ mask }, 1, 2, text);
    note({ ...KEY, high: KEY.high ^ mask }, 1, 2, text);
    note(KEY, 1 ^ mask, 2, text);
    note(KEY, 1, 2 ^ mask, text);
  }
  for (let bit = 0; bit < text.length * 8; bit++) {
    const changed = Buffer.from(text);
    changed.writeUInt8(text.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    note(KEY, 1, 2, changed);
  }
  assert.equal(hashes.size, 1 + 4 * 32 + text.length * 8);
});

test('both halves of a 64-bit hash change with every bit of the text', () => {
  const lower = new Set<number>();
  const upper = new Set<number>();
  const out = new Uint32Array(1);
  for (let bit = 0; bit < 512; bit++) {
    const text = Buffer.alloc(64);
    text.writeUInt8(1 << (bit & 7), bit >> 3);
    lower.add(keyedHash(KEY, 0, 0, text, 0, text.length, out));
    upper.add(out[0] as number);
  }
  assert.equal(lower.size, 512);
  assert.equal(upper.size, 512);
});

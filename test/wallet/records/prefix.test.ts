import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { textBytesMax, writeText } from '../../../src/wallet/records/bytes.js';
import { beginsWith, prefixOf } from '../../../src/wallet/records/prefix.js';

const PAD = 3;

function isBeginning(text: string, prefix: string): boolean {
  const bytes = new Uint8Array(PAD + textBytesMax(text)).fill(0xff);
  writeText(bytes, PAD, text);
  return beginsWith(bytes, PAD, prefixOf(prefix));
}

const units = (...letters: readonly string[]) => fc.string({ unit: fc.constantFrom(...letters), maxLength: 60 });
/** Texts in each stored form: six bits per unit, one byte, two bytes, and a mixture. */
const arbitraryText = fc.oneof(units('a', 'Z', '-', '0'), units('a', ' ', 'é'), units('a', 'ม', '\u202E'), fc.string());

test('a stored text matches a prefix exactly when the text starts with it', () => {
  fc.assert(
    fc.property(arbitraryText, fc.nat(60), arbitraryText, (text, length, other) => {
      const own = text.slice(0, length);
      assert.equal(isBeginning(text, own), true);
      for (const prefix of [other, own + other.slice(0, 1)]) {
        assert.equal(isBeginning(text, prefix), text.startsWith(prefix), JSON.stringify([text, prefix]));
      }
    }),
    { numRuns: 2000 },
  );
});

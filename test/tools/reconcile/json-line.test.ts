import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'lossless-json';
import { valuesOfLine } from '../../../src/tools/reconcile/json-line.js';

/** Values of the line, member by member, as read by a parser that keeps all digits. */
function parsed(line: string): Map<string, string> {
  const object = parse(line, null, (digits) => digits) as object;
  return new Map(Object.entries(object).map(([name, value]) => [name, typeof value === 'string' ? value : '']));
}

test('any JSON line is parsed as a JSON parser would parse it', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('a"b', 'x\\', ':5,', '}', 'ä', '\u2028', '\t'),
  );
  const digits = fc.constantFrom('0', '-0', '10.50', '1e5', '1E-7', '12345678901234567890', '0.30000000000000004');
  const value = fc.oneof(
    text.map((one) => JSON.stringify(one)),
    digits,
    fc.constantFrom('true', 'false', 'null', '{"a":[1,"}"]}', '[]'),
  );
  const blank = fc.constantFrom('', ' ', '\t', ' \r');
  const members = fc.uniqueArray(fc.tuple(text, value, blank), {
    selector: ([name]) => name,
    minLength: 0,
    maxLength: 8,
  });
  fc.assert(
    fc.property(members, blank, (some, around) => {
      const inner = some.map(([name, of, gap]) => `${gap}${JSON.stringify(name)}${gap}:${gap}${of}${gap}`).join(',');
      const line = `${around}{${inner}}${around}`;
      assert.deepEqual(valuesOfLine(line, 1), parsed(line));
    }),
  );
});

test('a line that is almost a JSON object is refused', () => {
  const cases = [
    '{"a":1,}',
    '{"a":1}}',
    '{"a":1} {"b":2}',
    '{"a":1',
    '{"a":01}',
    '{"a":1.}',
    '{"a":"\t"}',
    '{"a":"\\x"}',
    '{a:1}',
    '{"a" "b"}',
    '{"a":1,"a":2}',
    '"a":1}',
    '',
  ];
  for (const line of cases)
    assert.throws(() => valuesOfLine(line, 7), { name: 'ToolError', message: /^line 7 is not JSON/ }, line);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import papaparse from 'papaparse';
import { toCsv } from '../../src/csv/to-csv.js';

const cellsOf = (text: string) => papaparse.parse(text, { delimiter: ',', skipEmptyLines: true }).data as string[][];

test('no CSV cell starts with a formula', () => {
  for (const sign of ['=', '+', '-', '@', '\t', '\r', '\n', '\uFF1D', '\uFF0B', '\uFF0D', '\uFF20']) {
    const name = `${sign}1+cmd|' /C calc'!A0`;
    assert.deepEqual(cellsOf(toCsv([['a', name]])), [['a', `'${name}`]], JSON.stringify(sign));
  }
});

test('no formula starts inside a cell after a semicolon, tab or line end', () => {
  for (const separator of [';', '\t', '\n', '\r']) {
    assert.deepEqual(cellsOf(toCsv([[`a${separator}=1+1`]])), [[`a${separator}'=1+1`]], JSON.stringify(separator));
  }
});

test('numbers and common names stay unchanged', () => {
  const cells = [
    '-12.50',
    '100',
    '0.1',
    'a-b',
    'ann@b.c',
    '1+1',
    '',
    ' x',
    '3-17',
    'a,b',
    'a"b',
    'a\nb',
    'a\rb',
    'ä😀',
  ];
  assert.deepEqual(cellsOf(toCsv([cells])), [cells]);
  for (const text of ['-1+2', '-', '-1,5', '-1e5', '+5', '-.5'])
    assert.deepEqual(cellsOf(toCsv([[text]])), [[`'${text}`]]);
});

test('a CSV conforms to RFC 4180', () => {
  assert.equal(
    toCsv([
      ['Player', 'Balance'],
      ['a,"b"', '-1.5'],
    ]),
    'Player,Balance\r\n"a,""b""",-1.5\r\n',
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_COLUMNS, parseColumns } from '../../../src/tools/reconcile/columns.js';
import { type PlatformRecord, platformRecord } from '../../../src/tools/reconcile/platform-record.js';
import { rawRecords } from '../../../src/tools/reconcile/raw-records.js';
import { ScaleTable } from '../../../src/wallet/amount.js';

const scales = new ScaleTable({ default: 4, byCurrency: { JPY: 0 } });

/** Splits the bytes into pieces of `length` bytes, so that characters and lines are split. */
async function* pieces(bytes: Buffer, length: number): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function read(history: string | Buffer, columns = DEFAULT_COLUMNS, piece = 7): Promise<PlatformRecord[]> {
  const records: PlatformRecord[] = [];
  for await (const batch of rawRecords(pieces(Buffer.from(history), piece), columns)) {
    for (const raw of batch) records.push(platformRecord(raw, columns, scales));
  }
  return records;
}

const RECORD = {
  ...{ id: '64a', betId: 'b-1', username: 'änn', currency: 'THB', productId: 'SLOTS', roundId: 'r-1' },
  ...{ stake: 10, payout: 25.5, betStatus: 'SETTLED', updatedDate: '2026-01-31T12:00:00.5Z' },
};
const READ: PlatformRecord = {
  ...{ line: 1, username: 'änn', productId: 'SLOTS', id: 'b-1', roundId: 'r-1', currency: 'THB', state: 'SETTLED' },
  ...{ stake: 100_000, payout: 255_000, timeMs: Date.UTC(2026, 0, 31, 12, 0, 0, 500) },
};
const json = (over: object) => JSON.stringify({ ...RECORD, ...over });

test('JSON lines may have empty lines, no final newline and pieces of any length', async () => {
  const history = `\uFEFF${json({})}\r\n\n${json({ betId: undefined, payout: '3' })}`;
  for (const piece of [1, 7, 100_000]) {
    assert.deepEqual(await read(history, DEFAULT_COLUMNS, piece), [
      READ,
      { ...READ, line: 3, id: '64a', payout: 30_000 },
    ]);
  }
  assert.deepEqual(await read(''), []);
  assert.deepEqual(await read(' \n\n'), []);
});

test('numbers keep all their digits, even in names', async () => {
  const line = json({}).replace('"b-1"', '12345678901234567890').replace('25.5', '123456789012.3456');
  const [record] = await read(line);
  assert.deepEqual([record?.id, record?.payout], ['12345678901234567890', 1_234_567_890_123_456]);
});

test('CSV may have any column order, quotes and line breaks, and keeps line numbers', async () => {
  const history = [
    'username,betId,unknown,productId,currency,roundId,stake,payout,betStatus,updatedDate',
    '"änn",b-1,,SLOTS,THB,r-1,10,25.5,SETTLED,2026-01-31T12:00:00.5Z',
    '"a,""\nb",b-2,x,SLOTS,JPY,,7,,open,1769860800500',
    '',
  ].join('\r\n');
  for (const piece of [1, 7, 100_000]) {
    const [first, second, ...none] = await read(history, DEFAULT_COLUMNS, piece);
    assert.deepEqual(first, { ...READ, line: 2 });
    assert.deepEqual(second, {
      ...{ line: 4, username: 'a,"\nb', productId: 'SLOTS', id: 'b-2', roundId: undefined, currency: 'JPY' },
      ...{ state: 'OPEN', stake: 7, payout: undefined, timeMs: 1_769_860_800_500 },
    });
    assert.deepEqual(none, []);
  }
});

test('a mapping defines columns, words and constant values', async () => {
  const columns = parseColumns(
    JSON.stringify({
      columns: { id: 'ticket', username: ['member', 'login'], status: 'result', time: 'at', payout: 'won' },
      always: { currency: 'THB', productId: 'SLOTS' },
      statuses: { Win: 'SETTLED', running: 'OPEN', Refunded: 'CANCELLED' },
      zone: '+07:00',
    }),
  );
  const history = [
    'ticket,member,login,stake,won,result,at,roundId',
    'b-1,,änn,10,25.5,WIN,2026-01-31 19:00:00.5,r-1',
    'b-2,änn,,10,,running,2026-01-31T12:00:00.5Z,r-1',
    'b-3,änn,,x,y,refunded,,r-1',
  ].join('\n');
  assert.deepEqual(await read(history, columns), [
    { ...READ, line: 2 },
    { ...READ, line: 3, id: 'b-2', state: 'OPEN', payout: undefined },
    { ...READ, line: 4, id: 'b-3', state: 'CANCELLED', stake: undefined, payout: undefined, timeMs: undefined },
  ]);
});

test('the CSV delimiter is found in the header or named before it', async () => {
  const rows = ['betId,username,productId,currency,stake,payout,betStatus', '"b-1",ann,SLOTS,THB,10,25.5,SETTLED'];
  const wanted = [{ id: 'b-1', stake: 100_000, payout: 255_000 }];
  for (const delimiter of [',', ';', '\t', '|']) {
    const lines = rows.map((row) => row.replaceAll(',', delimiter));
    for (const history of [lines, [`sep=${delimiter}`, ...lines], ['', ...lines]]) {
      const records = await read(history.join('\r\n'), DEFAULT_COLUMNS, 100);
      const found = records.map(({ id, stake, payout }) => ({ id, stake, payout }));
      assert.deepEqual(found, wanted, JSON.stringify(history));
      assert.equal(records[0]?.line, history.length);
    }
  }
  const quoted = '"betId";"username";"productId";"currency";"betStatus"\n"a,b";ann;"x;y";THB;void\n';
  const [record] = await read(quoted);
  assert.deepEqual([record?.id, record?.productId], ['a,b', 'x;y']);
});

test('a cell that a spreadsheet has changed is reported with a remedy', async () => {
  const lineOf = (id: string, stake = '10') =>
    `betId;username;productId;currency;stake;betStatus\nb-1;ann;P;THB;10;OPEN\n${id};ann;P;THB;${stake};OPEN\n`;
  const cases: [string, RegExp][] = [
    [lineOf('1E+15'), /^line 3, column betId: 1E\+15 was rounded by a spreadsheet: format the column as text/],
    [lineOf('1.23457E+15'), /^line 3, column betId: 1\.23457E\+15 was rounded by a spreadsheet/],
    [lineOf('b-2', '1,5E+9'), /^line 3, column stake: 1,5E\+9 was rounded by a spreadsheet/],
    [lineOf('="0017"'), /^line 3, column betId: begins with =": the value alone is needed, 0017 and not ="0017"$/],
    [lineOf('"=""0017"""'), /^line 3, column betId: begins with ="/],
    [lineOf('b-2', '1,234.56'), /^line 3: stake cannot be "1,234\.56": write 1234\.56, not 1,234\.56 or 1\.234,56$/],
    [lineOf('b-2', '1.234,56'), /^line 3: stake cannot be "1\.234,56": write 1234\.56/],
    [lineOf('b-2', '1234,56'), /^line 3: stake cannot be "1234,56": write 1234\.56/],
    [lineOf('b-2', '1\u00a0234'), /^line 3: stake cannot be "1.234": write 1234\.56/],
    [lineOf('b-2', 'ten'), /^line 3: stake cannot be "ten": THB has 4 decimals$/],
  ];
  for (const [history, message] of cases) await assert.rejects(read(history), { message });
});

test('unreadable input is reported with its line number', async () => {
  const good = json({});
  const cases: [string | Buffer, RegExp][] = [
    [`${good}\n{"betId":`, /^line 2 is not JSON: /],
    [`${good}\n[]`, /^line 2 is not a JSON object$/],
    ['[{}]', /^it is a JSON array: write one record per line/],
    [`${good}\n${json({ stake: undefined })}`, /^line 2: there is no stake: no column stake that has one$/],
    [json({ betId: undefined, id: null }), /^line 1: there is no id: no column betId or id that has one$/],
    [json({ payout: null }), /^line 1: there is no payout/],
    [json({ payout: -1 }), /^line 1: payout cannot be "-1": THB has 4 decimals$/],
    [json({ stake: 0.33333 }), /^line 1: stake cannot be "0.33333": THB has 4 decimals$/],
    [json({ stake: 1e20 }), /^line 1: stake cannot be "100000000000000000000"/],
    [json({ stake: 1.5, currency: 'JPY' }), /^line 1: stake cannot be "1.5": JPY has 0 decimals$/],
    [json({ currency: 'baht' }), /^line 1: "baht" is not a currency$/],
    [json({ betStatus: 'LOST' }), /^line 1: the status "LOST" is unknown: map it in "statuses" of the mapping/],
    ['id,username,productId,currency,betStatus\n1,ann,P,THB,Open\n', /^line 2: there is no stake: no column stake/],
    ['id,currency,betStatus\n\n1,THB,Running\n', /^line 3: the status "Running" is unknown: map it in "statuses"/],
    [json({ updatedDate: '2026-01-31T12:00:00' }), /^line 1: not a time with a zone: "2026-01-31T12:00:00"$/],
    [json({ updatedDate: '2026-02-31T25:00:00Z' }), /^line 1: not a time with a zone/],
    [json({ username: 'x'.repeat(300) }), /^line 1: username cannot be "x{100}\.\.\."$/],
    [json({ username: '\ud800' }), /^line 1: username cannot be /],
    [`${good}\n${'x'.repeat(1_100_000)}`, /^line 2 is longer than 1048576 bytes$/],
    ['a,b\n1,2\n3\n', /^line 3 is not CSV: /],
    [`a,b\n1,"${'x\n'.repeat(600_000)}`, /^line \d+ is not CSV: /],
    ['\n'.repeat(1_100_000), /^it begins with blanks only$/],
    [Buffer.concat([Buffer.from(`${good}\n`), Buffer.from([0xff, 0x0a])]), /^line 2 is not UTF-8$/],
    [Buffer.concat([Buffer.from('a,b\n'), Buffer.from([0xff, 0x0a])]), /^line 2 is not UTF-8$/],
    [Buffer.from('€').subarray(0, 2), /^line 1 is not UTF-8$/],
  ];
  for (const [history, message] of cases) {
    await assert.rejects(read(history, DEFAULT_COLUMNS, 65_536), { name: 'ToolError', message }, String(message));
  }
});

test('an invalid mapping is refused', () => {
  const cases: [string, RegExp][] = [
    ['{', /^the mapping is not JSON: /],
    ['[]', /^the mapping must be a JSON object$/],
    ['{"colums":{}}', /^the mapping has an unknown part "colums": the parts are columns, always, statuses, zone$/],
    ['{"columns":{"bet":"x"}}', /^"columns" of the mapping has "bet": the fields are id, /],
    ['{"columns":{"id":7}}', /^"id" in "columns" of the mapping must be text$/],
    ['{"statuses":{"W":"WON"}}', /^"W" in "statuses" of the mapping must be one of OPEN, UNSETTLED/],
    [
      '{"statuses":{"Won":"SETTLED","WON":"VOID"}}',
      /^"WON" appears twice in "statuses" of the mapping: upper and lower/,
    ],
    ['{"zone":"Bangkok"}', /^"zone" of the mapping must be Z, or an offset such as \+07:00$/],
  ];
  for (const [text, message] of cases) assert.throws(() => parseColumns(text), { name: 'ToolError', message });
});

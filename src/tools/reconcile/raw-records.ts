import { isUtf8 } from 'node:buffer';
import { pipeline, Readable } from 'node:stream';
import { CsvError, parse as csvParser, type Options } from 'csv-parse';
import { withoutMark } from '../../base/decode-text.js';
import { spreadsheetFault } from '../../base/spreadsheet-cell.js';
import { ToolError } from '../store-reader.js';
import { type Columns, FIELDS, type Field } from './columns.js';
import { valuesOfLine } from './json-line.js';

/** A record of the platform's history as text, so that numbers keep the digits of the file. */
export interface RawRecord {
  /**
   * The line number in the file, from 1. For a record that spans several lines, this is the number of its last line.
   */
  readonly line: number;
  readonly fields: Readonly<Partial<Record<Field, string>>>;
}

/** Maximum size of a line or record. A file with a longer line is of a different kind. */
const RECORD_MAX_BYTES = 1 << 20;
const BATCH_RECORDS = 1000;
const NEWLINE = 0x0a;

/**
 * Reads the records of a history in batches. The history is either JSON lines, or CSV whose first line names the
 * columns. Throws a `ToolError` that names the line if one is unreadable.
 */
export async function* rawRecords(
  source: AsyncIterable<Uint8Array>,
  columns: Columns,
): AsyncGenerator<readonly RawRecord[], void> {
  const texts = wholeLines(source);
  let begin = '';
  while (begin.trim() === '') {
    const next = await texts.next();
    if (next.done) return;
    begin += next.value;
    if (begin.length > RECORD_MAX_BYTES && begin.trim() === '') throw new ToolError('it begins with blanks only');
  }
  const first = begin.trimStart().charAt(0);
  if (first === '[') throw new ToolError("it is a JSON array: write one record per line, for example with jq -c '.[]'");
  const whole = following(begin, texts);
  yield* first === '{' ? jsonRecords(whole, columns) : csvRecords(whole, columns, begin);
}

async function* following(begin: string, rest: AsyncIterable<string>): AsyncGenerator<string, void> {
  yield begin;
  yield* rest;
}

/** The text of complete lines, without a byte order mark. */
async function* wholeLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  let line = 1;
  let rest: Buffer = Buffer.alloc(0);
  for await (const bytes of source) {
    const all = Buffer.concat([rest, bytes]);
    const end = all.lastIndexOf(NEWLINE) + 1;
    rest = all.subarray(end);
    if (end > 0) {
      yield textOf(all.subarray(0, end), line);
      for (let at = all.indexOf(NEWLINE); at !== -1; at = all.indexOf(NEWLINE, at + 1)) line++;
    }
    if (rest.length > RECORD_MAX_BYTES) throw tooLong(line);
  }
  yield textOf(rest, line);
}

/**
 * Decodes UTF-8. Throws if the bytes are invalid, because replacement characters could make two names equal. `line` is
 * the number of the first line.
 */
function textOf(bytes: Buffer, line: number): string {
  if (isUtf8(bytes)) {
    const text = bytes.toString();
    return line === 1 ? withoutMark(text) : text;
  }
  let wrong = line;
  for (let at = 0, end = 0; at < bytes.length; at = end, wrong++) {
    end = bytes.indexOf(NEWLINE, at) + 1 || bytes.length;
    if (!isUtf8(bytes.subarray(at, end))) break;
  }
  throw new ToolError(`line ${wrong} is not UTF-8`);
}

async function* jsonRecords(
  texts: AsyncIterable<string>,
  { names }: Columns,
): AsyncGenerator<readonly RawRecord[], void> {
  let line = 0;
  for await (const text of texts) {
    const records: RawRecord[] = [];
    const lines = text.split('\n');
    // A newline at the end does not begin a new line.
    if (lines.at(-1) === '') lines.pop();
    for (const one of lines) {
      line++;
      if (one.length > RECORD_MAX_BYTES) throw tooLong(line);
      if (one.trim() !== '') records.push({ line, fields: fieldsOf(valuesOfLine(one, line), names) });
    }
    yield records;
  }
}

function tooLong(line: number): ToolError {
  return new ToolError(`line ${line} is longer than ${RECORD_MAX_BYTES} bytes`);
}

function fieldsOf(values: ReadonlyMap<string, string>, names: Columns['names']): RawRecord['fields'] {
  const fields: Partial<Record<Field, string>> = {};
  for (const field of FIELDS) {
    for (const name of names[field]) {
      const value = values.get(name);
      if (value === undefined || value === '') continue;
      fields[field] = value;
      break;
    }
  }
  return fields;
}

type CsvLine = { readonly record: readonly string[]; readonly info: { readonly lines: number } };

async function* csvRecords(
  texts: AsyncIterable<string>,
  { names }: Columns,
  begin: string,
): AsyncGenerator<readonly RawRecord[], void> {
  const { delimiter, isNamed, header } = layoutOf(begin, names);
  // The types of the CSV parser do not reflect that `info` pairs each record with its position.
  const options = { delimiter, info: true, max_record_size: RECORD_MAX_BYTES, skip_empty_lines: true } as Options;
  const parser = csvParser(options);
  // Ignore the callback's error, because the parser reports errors of the source as well.
  pipeline(Readable.from(isNamed ? withoutFirstLine(texts) : texts), parser, () => {});
  let places: readonly Place[] | undefined;
  let batch: RawRecord[] = [];
  try {
    for await (const { record, info } of parser as AsyncIterable<CsvLine>) {
      if (places === undefined) {
        places = placesOf(record, names);
        continue;
      }
      batch.push({ line: info.lines, fields: csvFields(record, places, info.lines) });
      if (batch.length < BATCH_RECORDS) continue;
      yield batch;
      batch = [];
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // A frequent cause is a quote in the middle of a cell, such as `="0017"`.
    const { lines, field, index } = error as CsvError & { lines: number; field?: unknown; index?: number };
    if (field === '=') mustBeUnspoilt('="', lines, header[index ?? -1] ?? '');
    throw new ToolError(`line ${lines} is not CSV: ${error.message}`);
  }
  yield batch;
}

/** Blanks the first line, so that line numbers remain those of the file. */
async function* withoutFirstLine(texts: AsyncIterable<string>): AsyncGenerator<string, void> {
  let isFirst = true;
  for await (const text of texts) {
    yield isFirst ? text.replace(/^\s*\S.*/, '') : text;
    isFirst = false;
  }
}

const DELIMITERS = [',', ';', '\t', '|'];

interface Layout {
  readonly delimiter: string;
  /** True if a line such as `sep=;`, which spreadsheets write, names the delimiter. */
  readonly isNamed: boolean;
  readonly header: readonly string[];
}

/** Uses the delimiter that the file names. Otherwise chooses the delimiter that yields the most known columns. */
function layoutOf(begin: string, names: Columns['names']): Layout {
  const [first = '', second = ''] = begin.split(/\r?\n/).filter((line) => line.trim() !== '');
  const named = /^sep=([,;\t|])$/i.exec(first.trimStart())?.[1];
  const header = (delimiter: string) =>
    (named === undefined ? first : second)
      .split(delimiter)
      .map((title) => title.replace(/^\s*"(.*)"\s*$/, '$1').trim());
  if (named !== undefined) return { delimiter: named, isNamed: true, header: header(named) };
  const known = new Set(Object.values(names).flat());
  const count = (delimiter: string) => header(delimiter).filter((title) => known.has(title)).length;
  const delimiter = DELIMITERS.reduce((best, one) => (count(one) > count(best) ? one : best));
  return { delimiter, isNamed: false, header: header(delimiter) };
}

/** A relevant column: its field, its title, and its position in a line. */
interface Place {
  readonly field: Field;
  readonly title: string;
  readonly at: number;
}

/** Relevant columns of a line, with the preferred name first. */
function placesOf(header: readonly string[], names: Columns['names']): Place[] {
  const titles = header.map((title) => title.trim());
  const places = FIELDS.flatMap((field) => names[field].map((title) => ({ field, title, at: titles.indexOf(title) })));
  return places.filter(({ at }) => at !== -1);
}

function csvFields(record: readonly string[], places: readonly Place[], line: number): RawRecord['fields'] {
  const fields: Partial<Record<Field, string>> = {};
  for (const { field, title, at } of places) {
    const value = record[at];
    if (fields[field] !== undefined || value === undefined || value === '') continue;
    mustBeUnspoilt(value, line, title);
    fields[field] = value;
  }
  return fields;
}

function mustBeUnspoilt(cell: string, line: number, title: string): void {
  const fault = spreadsheetFault(cell);
  if (fault !== undefined) throw new ToolError(`line ${line}, column ${title}: ${fault}`);
}

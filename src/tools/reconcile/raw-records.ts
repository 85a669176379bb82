import { isUtf8 } from 'node:buffer';
import { pipeline, Readable } from 'node:stream';
import { CsvError, parse as csvParser, type Options } from 'csv-parse';
import { withoutMark } from '../../base/decode-text.js';
import { ToolError } from '../store-reader.js';
import { type Columns, FIELDS, type Field } from './columns.js';
import { valuesOfLine } from './json-line.js';

/** A record of the platform's history, as text: a number has the digits that the file has. */
export interface RawRecord {
  /** Where it is in the file: 1 is the first line. Of a record of several lines the last one. */
  readonly line: number;
  readonly fields: Readonly<Partial<Record<Field, string>>>;
}

/** No line and no record is longer: what is, is another kind of file. */
const RECORD_MAX_BYTES = 1 << 20;
const BATCH_RECORDS = 1000;
const NEWLINE = 0x0a;

/**
 * The records of a history, in batches: JSON lines, or CSV whose first line names the columns. Throws a `ToolError` that
 * names the line which cannot be read.
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
    if (begin.length > RECORD_MAX_BYTES && begin.trim() === '')
      throw new ToolError('it begins with nothing but blanks');
  }
  const first = begin.trimStart().charAt(0);
  if (first === '[') throw new ToolError("it is a JSON array: give a record on each line, as jq -c '.[]' makes them");
  const whole = following(begin, texts);
  yield* first === '{' ? jsonRecords(whole, columns) : csvRecords(whole, columns);
}

async function* following(begin: string, rest: AsyncIterable<string>): AsyncGenerator<string, void> {
  yield begin;
  yield* rest;
}

/** Texts of whole lines, without a byte order mark. */
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

/** Throws where it is not UTF-8: two names could become the same one. `line`: the number of its first one. */
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
    // What stands behind the last newline is the next line, or nothing.
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
): AsyncGenerator<readonly RawRecord[], void> {
  // What its types lack: `info` makes each record stand beside its place.
  const options = { info: true, max_record_size: RECORD_MAX_BYTES, skip_empty_lines: true } as Options;
  const parser = csvParser(options);
  // Errors of the source come out of the parser.
  pipeline(Readable.from(texts), parser, () => {});
  let places: readonly (readonly [Field, number])[] | undefined;
  let batch: RawRecord[] = [];
  try {
    for await (const { record, info } of parser as AsyncIterable<CsvLine>) {
      if (places === undefined) {
        places = placesOf(record, names);
        continue;
      }
      batch.push({ line: info.lines, fields: csvFields(record, places) });
      if (batch.length < BATCH_RECORDS) continue;
      yield batch;
      batch = [];
    }
  } catch (error) {
    if (error instanceof CsvError) throw new ToolError(`line ${error.lines} is not CSV: ${error.message}`);
    throw error;
  }
  yield batch;
}

/** Which columns of a line are wanted, the best name first. */
function placesOf(header: readonly string[], names: Columns['names']): (readonly [Field, number])[] {
  const titles = header.map((title) => title.trim());
  const places = FIELDS.flatMap((field) => names[field].map((name) => [field, titles.indexOf(name)] as const));
  return places.filter(([, place]) => place !== -1);
}

function csvFields(record: readonly string[], places: readonly (readonly [Field, number])[]): RawRecord['fields'] {
  const fields: Partial<Record<Field, string>> = {};
  for (const [field, place] of places) {
    const value = record[place];
    if (fields[field] === undefined && value !== undefined && value !== '') fields[field] = value;
  }
  return fields;
}

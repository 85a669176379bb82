import { parse as parseJson } from 'lossless-json';
import { messageOf } from '../../base/message-of.js';
import { ToolError } from '../store-reader.js';

/**
 * A name, its value, and the delimiter after it. The value is a text without escapes (group 2), a number (3), or
 * neither. A record made of such members is read by this expression alone, four times as fast as by a parser that keeps
 * digits.
 */
const MEMBER =
  /\s*"([ !#-[\]-\uffff]*)"\s*:\s*(?:"([ !#-[\]-\uffff]*)"|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)|true|false|null)\s*(,|\}\s*$)/y;

/**
 * The values of a JSON object on one line, by name. Texts are unchanged, numbers keep the digits of the line, and any
 * other value is empty (''). Throws a `ToolError` when the line is not an object.
 */
export function valuesOfLine(text: string, line: number): ReadonlyMap<string, string> {
  return tryFlatValues(text) ?? parsedValues(text, line);
}

/** Undefined for lines that need a parser, and for invalid lines. */
function tryFlatValues(text: string): ReadonlyMap<string, string> | undefined {
  const values = new Map<string, string>();
  MEMBER.lastIndex = text.indexOf('{') + 1;
  if (MEMBER.lastIndex !== 1) return undefined;
  for (;;) {
    const [, name = '', string, number, behind] = MEMBER.exec(text) ?? [];
    // Leave a repeated name to the parser.
    if (behind === undefined || values.has(name)) return undefined;
    values.set(name, string ?? number ?? '');
    if (behind !== ',') return values;
  }
}

function parsedValues(text: string, line: number): ReadonlyMap<string, string> {
  let object: unknown;
  try {
    // Keep a number as the text that it is.
    object = parseJson(text, null, (digits) => digits);
  } catch (error) {
    throw new ToolError(`line ${line} is not JSON: ${messageOf(error)}`);
  }
  if (typeof object !== 'object' || object === null || Array.isArray(object)) {
    throw new ToolError(`line ${line} is not a JSON object`);
  }
  return new Map(Object.entries(object).map(([name, value]) => [name, typeof value === 'string' ? value : '']));
}

import { badRequest } from './problem.js';
import { type QueryString, wholeNumber } from './query-string.js';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 1000;

/** Of a list that comes page by page. */
export function limitOf(query: QueryString): number {
  return wholeNumber(query, 'limit', 1, LIMIT_MAX, LIMIT_DEFAULT);
}

/** A cursor is opaque to whoever gets it: JSON in base64url. */
export function encodeCursor(cursor: object): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/** Undefined for the first page. Throws a `Problem` when it is no cursor of such a list. */
export function cursorOf<T>(query: QueryString, isCursor: (value: unknown) => value is T): T | undefined {
  const text = query.before;
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(String(text), 'base64url').toString());
    if (isCursor(value)) return value;
  } catch {
    // Falls through to the same answer.
  }
  throw badRequest('before must be the `next` of an earlier page');
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

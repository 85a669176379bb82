import { badRequest } from './problem.js';

/** Encodes a cursor, which is opaque to its reader: JSON in base64url. */
export function encodeCursor(cursor: object): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/** Undefined for the first page. Throws a `Problem` when the text is no cursor of such a list. */
export function cursorOf<T>(
  text: string | undefined,
  isCursor: (value: unknown) => value is T,
  name = 'before',
): T | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (isCursor(value)) return value;
  } catch {
    // Falls through to the same error.
  }
  throw badRequest(`${name} must be the \`next\` of an earlier page`);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

import { badRequest } from './problem.js';

/** Encodes a cursor that is opaque to clients: JSON in base64url. */
export function encodeCursor(cursor: object): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/**
 * Decodes a cursor; undefined for the first page. Throws a `Problem` if the text is not a cursor of this kind of list.
 */
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
    // Malformed text causes the same error as a cursor with the wrong shape.
  }
  throw badRequest(`${name} must be the \`next\` of an earlier page`);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

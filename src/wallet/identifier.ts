/** Ids, usernames, products and games: 1 to 256 characters (code points) of any Unicode, compared exactly. */
export const ID_LENGTH_MAX = 256;

/** Longest reason for a correction of a balance, for people. */
export const REASON_LENGTH_MAX = 500;

export function isId(value: unknown): value is string {
  return isText(value, ID_LENGTH_MAX);
}

/** True for a reason; blanks alone are not one. */
export function isReason(value: unknown): value is string {
  return isText(value, REASON_LENGTH_MAX) && value.trim() !== '';
}

/**
 * True for a valid text. A lone surrogate has no UTF-8: two ids that differ only in one would become the same id in the
 * log.
 */
function isText(value: unknown, lengthMax: number): value is string {
  return typeof value === 'string' && value.length > 0 && !isLongerThan(value, lengthMax) && value.isWellFormed();
}

/** True for more than `most` code points, which are counted only when the number of UTF-16 units leaves a doubt. */
export function isLongerThan(text: string, most: number): boolean {
  if (text.length <= most) return false;
  if (text.length > most * 2) return true;
  let count = 0;
  for (const _ of text) count++;
  return count > most;
}

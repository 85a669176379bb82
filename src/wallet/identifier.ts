/** Maximum length of ids, usernames, product ids and game codes: 1 to 256 Unicode code points, compared exactly. */
export const ID_LENGTH_MAX = 256;

/** Maximum length of the human-readable reason for a balance correction. */
export const REASON_LENGTH_MAX = 500;

export function isId(value: unknown): value is string {
  return isText(value, ID_LENGTH_MAX);
}

/** True for a valid reason. A reason must contain more than blanks. */
export function isReason(value: unknown): value is string {
  return isText(value, REASON_LENGTH_MAX) && value.trim() !== '';
}

/**
 * True for a valid text. A lone surrogate cannot be encoded as UTF-8, so two ids that differ only in a lone surrogate
 * would become equal in the log.
 */
function isText(value: unknown, lengthMax: number): value is string {
  return typeof value === 'string' && value.length > 0 && !isLongerThan(value, lengthMax) && value.isWellFormed();
}

/**
 * True if the text has more than `most` code points. Counts them only if the number of UTF-16 units does not settle the
 * question.
 */
export function isLongerThan(text: string, most: number): boolean {
  if (text.length <= most) return false;
  if (text.length > most * 2) return true;
  let count = 0;
  for (const _ of text) count++;
  return count > most;
}

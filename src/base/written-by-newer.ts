/**
 * The error for data that only a newer release can read, worded in the same way for every kind of file. `subject` is
 * the kind of file; `number` is the format or version that this release does not know, such as `format 2`.
 */
export function writtenByNewer(subject: string, number: string): string {
  return `${subject} was written by a newer walletd (${number}): use that release`;
}

/**
 * Refusal of bytes that only a newer release can read, in the same words for every kind of file. `subject` names the
 * kind of file, `number` what this release does not know, such as `format 2`.
 */
export function writtenByNewer(subject: string, number: string): string {
  return `${subject} was written by a newer walletd (${number}): use that release`;
}

const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/**
 * The time to wait after the given number of failures in a row. The time doubles up to 30 s. It is shortened at random
 * by up to half, so that many senders do not return to a restarted server at the same moment.
 */
export function backoffMs(failures: number, random: number): number {
  const fullMs = Math.min(FIRST_MS * 2 ** (failures - 1), LONGEST_MS);
  return Math.round(fullMs * (1 - random / 2));
}

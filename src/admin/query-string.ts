import { badRequest } from './problem.js';

export type QueryString = Record<string, string | string[] | undefined>;

/** Throws a `Problem` when the parameter is there and is not a whole number in its range. */
export function wholeNumber(query: QueryString, name: string, least: number, most: number, absent: number): number {
  const text = query[name];
  if (text === undefined) return absent;
  const value = typeof text === 'string' && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) throw badRequest(`${name} must be a whole number from ${least} to ${most}`);
  return value;
}

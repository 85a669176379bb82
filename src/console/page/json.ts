import { LosslessNumber, parse, stringify } from 'lossless-json';

/** Number of the API as it was written: amounts have more digits than a double. */
export type Exact = { readonly exact: string };

/** Parses JSON and keeps the text of every number. */
export function parseExact(text: string): unknown {
  return parse(text, undefined, (exact) => ({ exact }));
}

/** Writes JSON with exact numbers in it. */
export function toJson(value: unknown): string {
  return stringify(value, (_key, one: unknown) => (isExact(one) ? new LosslessNumber(one.exact) : one)) as string;
}

/** Value of a count or a time, which fits a double. */
export function plain({ exact }: Exact): number {
  return Number(exact);
}

function isExact(value: unknown): value is Exact {
  return typeof value === 'object' && value !== null && 'exact' in value;
}

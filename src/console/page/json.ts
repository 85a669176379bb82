import { LosslessNumber, parse, stringify } from 'lossless-json';

/** Number from the API, kept as text: amounts can have more digits than a double holds. */
export type Exact = { readonly exact: string };

/** Parses JSON and keeps the text of every number. */
export function parseExact(text: string): unknown {
  return parse(text, undefined, (exact) => ({ exact }));
}

/** Serializes a value to JSON, with exact numbers written in full. */
export function toJson(value: unknown): string {
  return stringify(value, (_key, one: unknown) => (isExact(one) ? new LosslessNumber(one.exact) : one)) as string;
}

/** The value of a count or a time, both of which fit a double. */
export function plain({ exact }: Exact): number {
  return Number(exact);
}

function isExact(value: unknown): value is Exact {
  return typeof value === 'object' && value !== null && 'exact' in value;
}

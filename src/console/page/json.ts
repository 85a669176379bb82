import { LosslessNumber, parse, stringify } from 'lossless-json';

/** A number of the API as it was written: amounts have more digits than a double. */
export type Exact = { readonly exact: string };

/** JSON in which every number stays the text that it was. */
export function parseExact(text: string): unknown {
  return parse(text, undefined, (exact) => ({ exact }));
}

/** JSON with such a number in it. */
export function toJson(value: unknown): string {
  return stringify(value, (_key, one: unknown) => (isExact(one) ? new LosslessNumber(one.exact) : one)) as string;
}

/** A count or a time, which a double holds. */
export function plain({ exact }: Exact): number {
  return Number(exact);
}

function isExact(value: unknown): value is Exact {
  return typeof value === 'object' && value !== null && 'exact' in value;
}

import type { FeedEvent } from './event.js';

/** Events that a consumer wants. An absent or empty list does not restrict. */
export interface FeedFilter {
  readonly types?: readonly string[];
  readonly products?: readonly string[];
  readonly currencies?: readonly string[];
}

/** True if the consumer wants the event. Events without a product pass only a filter that names no products. */
export function passes({ types, products, currencies }: FeedFilter, { type, data }: FeedEvent): boolean {
  return allows(types, type) && allows(products, data.productId) && allows(currencies, data.currency);
}

/** The same filter in one form: lists without repetition, in order, and no empty lists. */
export function normalFilter({ types, products, currencies }: FeedFilter): FeedFilter {
  return { ...listed('types', types), ...listed('products', products), ...listed('currencies', currencies) };
}

function allows(list: readonly string[] | undefined, value: string | null): boolean {
  return list === undefined || list.length === 0 || (value !== null && list.includes(value));
}

function listed(name: keyof FeedFilter, list: readonly string[] | undefined): FeedFilter {
  return list === undefined || list.length === 0 ? {} : { [name]: [...new Set(list)].sort() };
}

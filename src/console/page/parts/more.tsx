import type { Pages } from '../use-pages.js';

/** Button that loads the next page of a list. */
export function More<T>({ of: { hasMore, isWaiting, items, more } }: { readonly of: Pages<T> }) {
  if (!hasMore) return null;
  return (
    <p class="more">
      <button type="button" disabled={isWaiting} onClick={more}>
        {isWaiting ? 'Loading…' : items.length === 0 ? 'Keep searching' : 'Show more'}
      </button>
    </p>
  );
}

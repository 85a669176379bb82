/** For every answer about players, money or health: no cache keeps it, and no browser guesses its type. */
export const UNCACHED = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const;

const YEAR_SECONDS = 31_536_000;

/** Sent over TLS: a browser that has asked once never asks this name without TLS. */
export const ONLY_TLS = { 'Strict-Transport-Security': `max-age=${YEAR_SECONDS}` } as const;

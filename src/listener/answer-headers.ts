/**
 * Headers of every answer about players, money or health: caches must not store it, and browsers must not guess its
 * type.
 */
export const UNCACHED = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const;

const YEAR_SECONDS = 31_536_000;

/**
 * Headers that are sent over TLS only. A browser that has received them does not use this host name without TLS for a
 * year.
 */
export const ONLY_TLS = { 'Strict-Transport-Security': `max-age=${YEAR_SECONDS}` } as const;

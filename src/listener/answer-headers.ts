/**
 * Headers of every answer about players, money or health: caches must not store it, and browsers must not guess its
 * type.
 */
export const UNCACHED = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const;

const YEAR_SECONDS = 31_536_000;

/** Sent over TLS. A browser that has connected once never uses this host name without TLS again. */
export const ONLY_TLS = { 'Strict-Transport-Security': `max-age=${YEAR_SECONDS}` } as const;

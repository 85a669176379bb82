import { createHash } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import type { Clock } from '../base/clock.js';

const GUESSES_MAX = 10;
export const THROTTLE_SECONDS = 60;
const WINDOW_MS = THROTTLE_SECONDS * 1000;
const ADDRESSES_MAX = 10_000;
/** Number of leading groups of an IPv6 address that identify one customer's network. */
const V6_GROUPS = 4;
const DIGEST_LENGTH = 16;

interface Guesses {
  /** Digests of wrong tokens. A program with an outdated token sends the same one repeatedly and is not guessing. */
  readonly wrong: Set<string>;
  readonly sinceMs: number;
}

/**
 * Counts distinct wrong tokens by address, for sign-ins and API calls combined. A guesser is refused for the rest of
 * the minute; other callers are not affected. The number of remembered addresses is bounded, and the oldest is dropped
 * first.
 */
export class TokenThrottle {
  /** Guesses by address, ordered by the time of the first one. */
  private readonly byAddress = new Map<string, Guesses>();

  constructor(private readonly clock: Clock) {}

  get size(): number {
    return this.byAddress.size;
  }

  isClosedFor(address: string): boolean {
    return (this.current(placeOf(address))?.wrong.size ?? 0) >= GUESSES_MAX;
  }

  /** `wrong` is the wrong token, of which only a digest is kept. */
  noteWrong(address: string, wrong: string): void {
    const place = placeOf(address);
    const digest = createHash('sha256').update(wrong).digest('base64').slice(0, DIGEST_LENGTH);
    const current = this.current(place);
    if (current !== undefined) {
      if (current.wrong.size < GUESSES_MAX) current.wrong.add(digest);
      return;
    }
    this.byAddress.delete(place);
    const [oldest] = this.byAddress.keys();
    if (this.byAddress.size >= ADDRESSES_MAX && oldest !== undefined) this.byAddress.delete(oldest);
    this.byAddress.set(place, { wrong: new Set([digest]), sinceMs: this.clock.monotonicMs() });
  }

  private current(place: string): Guesses | undefined {
    const known = this.byAddress.get(place);
    return known !== undefined && this.clock.monotonicMs() - known.sinceMs < WINDOW_MS ? known : undefined;
  }
}

function placeOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  // A proxy that uses IPv6 writes an IPv4 address as ::ffff:192.0.2.1.
  const parsed = ipaddr.process(address);
  return 'parts' in parsed ? parsed.parts.slice(0, V6_GROUPS).join(':') : parsed.toString();
}

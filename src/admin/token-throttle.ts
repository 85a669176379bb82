import { createHash } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import type { Clock } from '../base/clock.js';

const GUESSES_MAX = 10;
export const THROTTLE_SECONDS = 60;
const WINDOW_MS = THROTTLE_SECONDS * 1000;
const ADDRESSES_MAX = 10_000;
/** Groups of an IPv6 address that name one customer's network. */
const V6_GROUPS = 4;
const DIGEST_LENGTH = 16;

interface Guesses {
  /** Digests of wrong tokens: a program with an old token sends one again and again, and guesses nothing. */
  readonly wrong: Set<string>;
  readonly sinceMs: number;
}

/**
 * Counts different wrong tokens by the address that they come from, at the sign-in and in calls alike: who guesses is refused for the
 * rest of the minute, and nobody else. The memory of addresses has a limit, and forgets the one that began longest ago.
 */
export class TokenThrottle {
  /** In the order in which they began. */
  private readonly byAddress = new Map<string, Guesses>();

  constructor(private readonly clock: Clock) {}

  get size(): number {
    return this.byAddress.size;
  }

  isClosedFor(address: string): boolean {
    return (this.current(placeOf(address))?.wrong.size ?? 0) >= GUESSES_MAX;
  }

  /** `wrong` is what was shown in place of a token; of it a digest is kept. */
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
  // A proxy of IPv6 writes an address of IPv4 as ::ffff:192.0.2.1.
  const parsed = ipaddr.process(address);
  return 'parts' in parsed ? parsed.parts.slice(0, V6_GROUPS).join(':') : parsed.toString();
}

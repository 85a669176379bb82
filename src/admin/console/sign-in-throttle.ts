import ipaddr from 'ipaddr.js';
import type { Clock } from '../../base/clock.js';

const FAILURES_MAX = 10;
export const SIGN_IN_PAUSE_SECONDS = 60;
const WINDOW_MS = SIGN_IN_PAUSE_SECONDS * 1000;
const ADDRESSES_MAX = 10_000;
/** Of IPv6 a network of this length is one customer's. */
const V6_GROUPS = 4;

interface Failures {
  count: number;
  readonly sinceMs: number;
}

/**
 * Counts wrong tokens by the address that they come from: whoever guesses is refused for the rest of the minute, and nobody
 * else. What is known of addresses has a limit; the one that began longest ago is forgotten first.
 */
export class SignInThrottle {
  /** In the order in which they began. */
  private readonly byAddress = new Map<string, Failures>();

  constructor(private readonly clock: Clock) {}

  get size(): number {
    return this.byAddress.size;
  }

  /** True when a token from this address is not even looked at. */
  isClosedFor(address: string): boolean {
    return (this.current(placeOf(address))?.count ?? 0) >= FAILURES_MAX;
  }

  noteFailure(address: string): void {
    const place = placeOf(address);
    const current = this.current(place);
    if (current !== undefined) {
      current.count++;
      return;
    }
    this.byAddress.delete(place);
    const [oldest] = this.byAddress.keys();
    if (this.byAddress.size >= ADDRESSES_MAX && oldest !== undefined) this.byAddress.delete(oldest);
    this.byAddress.set(place, { count: 1, sinceMs: this.clock.monotonicMs() });
  }

  private current(place: string): Failures | undefined {
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

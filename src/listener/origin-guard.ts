/**
 * Signs that a request comes from elsewhere, though its connection comes from this machine. A listener that asks for no
 * key, network or token trusts loopback, and there a browser carries the requests of any web page, and a proxy those of
 * anybody.
 */
export type Carrier = 'browser' | 'proxy';

/** Names under which a machine asks itself, as the Host of a request. */
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/**
 * Headers by their lower-case name. `Sec-Fetch-Mode` is missing on purpose: Node's own `fetch` sends it, and browsers send it
 * with the other two only.
 */
const CARRIERS: ReadonlyMap<string, readonly [name: string, carrier: Carrier]> = new Map([
  ['origin', ['Origin', 'browser']],
  ['sec-fetch-site', ['Sec-Fetch-Site', 'browser']],
  ['sec-fetch-dest', ['Sec-Fetch-Dest', 'browser']],
  ['sec-fetch-user', ['Sec-Fetch-User', 'browser']],
  ['forwarded', ['Forwarded', 'proxy']],
  ['via', ['Via', 'proxy']],
  ['x-real-ip', ['X-Real-IP', 'proxy']],
]);
/** In the place of a header's name. */
export const PROXY_PROTOCOL = 'proxy protocol';
const FORWARDED_PREFIX = 'x-forwarded-';

export function isLoopbackHost(host: string): boolean {
  return LOOPBACK_HOST.test(host);
}

/** The program that adds a header with this lower-case name; undefined when any program may send it. */
export function carrierOf(name: string): Carrier | undefined {
  return CARRIERS.get(name)?.[1] ?? (name.startsWith(FORWARDED_PREFIX) ? 'proxy' : undefined);
}

/** For the log, few texts whatever is sent: the header that gives a request away, and the cure. */
export function describeCarried(name: string, cure: string): string {
  if (name === 'host') return `its Host is no name of this machine: ${cure}`;
  if (name === PROXY_PROTOCOL) return `a proxy sent it with the PROXY protocol: ${cure}`;
  const [shown, carrier] = CARRIERS.get(name) ?? ['X-Forwarded-*', 'proxy'];
  return `it has ${shown}, which a ${carrier} adds: ${cure}`;
}

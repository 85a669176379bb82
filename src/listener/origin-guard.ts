/**
 * Signs that a request comes from elsewhere although its connection comes from this machine. A listener without key,
 * network or token trusts loopback. There a browser carries requests of any web page, and a proxy carries requests of
 * any client.
 */
export type Carrier = 'browser' | 'proxy';

/** Names for this machine in the Host header of a local request. */
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/**
 * Headers by their lower-case name. `Sec-Fetch-Mode` is missing on purpose: Node's own `fetch` sends it, and browsers
 * send it only with the other two.
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
/** Stands in for a header's name. */
export const PROXY_PROTOCOL = 'proxy protocol';
const FORWARDED_PREFIX = 'x-forwarded-';

export function isLoopbackHost(host: string): boolean {
  return LOOPBACK_HOST.test(host);
}

/** The kind of program that adds a header with this lower-case name; undefined when any program may send it. */
export function carrierOf(name: string): Carrier | undefined {
  return CARRIERS.get(name)?.[1] ?? (name.startsWith(FORWARDED_PREFIX) ? 'proxy' : undefined);
}

/** Log text, one of few: the header that reveals the origin of a request, and the cure. */
export function describeCarried(name: string, cure: string): string {
  if (name === 'host') return `its Host is no name of this machine: ${cure}`;
  if (name === PROXY_PROTOCOL) return `a proxy sent it with the PROXY protocol: ${cure}`;
  const [shown, carrier] = CARRIERS.get(name) ?? ['X-Forwarded-*', 'proxy'];
  return `it has ${shown}, which a ${carrier} adds: ${cure}`;
}

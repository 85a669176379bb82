/**
 * Evidence that a request comes from elsewhere although its connection comes from this machine. A listener without a
 * key, network or token trusts loopback. On loopback, however, a browser sends requests for any web page, and a proxy
 * forwards requests from any client.
 */
export type Origin = 'browser' | 'proxy';

/** Host header values of local requests. */
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/**
 * Headers by lower-case name. `Sec-Fetch-Mode` is left out on purpose: Node's own `fetch` sends it, and browsers send
 * it only together with the other two.
 */
const ORIGIN_OF_HEADER: ReadonlyMap<string, readonly [name: string, carrier: Origin]> = new Map([
  ['origin', ['Origin', 'browser']],
  ['sec-fetch-site', ['Sec-Fetch-Site', 'browser']],
  ['sec-fetch-dest', ['Sec-Fetch-Dest', 'browser']],
  ['sec-fetch-user', ['Sec-Fetch-User', 'browser']],
  ['forwarded', ['Forwarded', 'proxy']],
  ['via', ['Via', 'proxy']],
  ['x-real-ip', ['X-Real-IP', 'proxy']],
]);
/** A placeholder for a header name. */
export const PROXY_PROTOCOL = 'proxy protocol';
const FORWARDED_PREFIX = 'x-forwarded-';

export function isLoopbackHost(host: string): boolean {
  return LOOPBACK_HOST.test(host);
}

/** The kind of program that adds a header with this lower-case name; undefined if any program may send it. */
export function originOf(name: string): Origin | undefined {
  return ORIGIN_OF_HEADER.get(name)?.[1] ?? (name.startsWith(FORWARDED_PREFIX) ? 'proxy' : undefined);
}

/** The log text from a small fixed set: the header that reveals the request's origin, and the remedy. */
export function describeCarried(name: string, cure: string): string {
  if (name === 'host') return `its Host is not a name of this machine: ${cure}`;
  if (name === PROXY_PROTOCOL) return `a proxy sent it with the PROXY protocol: ${cure}`;
  const [shown, origin] = ORIGIN_OF_HEADER.get(name) ?? ['X-Forwarded-*', 'proxy'];
  return `it has ${shown}, which a ${origin} adds: ${cure}`;
}

import type { Clock } from '../base/clock.js';
import { describeCarried, isLoopbackHost, originOf, PROXY_PROTOCOL } from '../listener/origin-guard.js';
import { type Address, type AddressList, addressOf, formatAddress, parseAddress } from './address-list.js';
import type { HttpConnection, HttpRequest } from './http-port.js';
import type { SignatureClaim, Signatures, Unsigned } from './signature.js';

/** Way in which a proxy reports its client's address. */
export type ForwardedBy = 'x-forwarded-for' | 'proxy-protocol';

export interface CallerRules {
  /** Networks of the allowed callers; undefined if any address is allowed. */
  readonly networks: AddressList | undefined;
  /** Proxies whose reports of client addresses are trusted. */
  readonly proxies: AddressList | undefined;
  readonly forwardedBy: ForwardedBy;
  /** Undefined if requests are not signed. */
  readonly signatures: Signatures | undefined;
  /**
   * True if binding to loopback is the only access control. Requests carried by a browser or a proxy are then refused.
   */
  readonly trustsLoopback: boolean;
}

const CURE = 'without signature.keys or allow.networks, only programs on this machine may call (docs/proxies.md)';
/** Maximum number of header characters that the log quotes. */
const SAID_LENGTH_MAX = 100;
const FORWARDED_FOR = 'x-forwarded-for';

/**
 * Rules about allowed callers; see docs/decisions.md section 6. Changing the rules creates a new object, so that each
 * request sees a consistent set.
 */
export class Callers {
  constructor(private readonly rules: CallerRules) {}

  get usesByKey(): Readonly<Record<string, number>> | undefined {
    return this.rules.signatures?.usesByKey;
  }

  /** Takes over the counts, so that the counters are not reset when the rules change. */
  countFrom({ usesByKey }: Callers): void {
    if (usesByKey !== undefined) this.rules.signatures?.countFrom(usesByKey);
  }

  /** True if this peer may connect, as an allowed caller or as a proxy that may forward requests of one. */
  mayConnect(res: HttpConnection): boolean {
    const { networks, proxies } = this.rules;
    if (networks === undefined) return true;
    const peer = peerOf(res);
    return peer !== undefined && (networks.has(peer) || proxies?.has(peer) === true);
  }

  isAllowed(res: HttpConnection, req: HttpRequest): boolean {
    const { networks } = this.rules;
    if (networks === undefined) return true;
    const address = this.findCaller(peerOf(res), res, req);
    return address !== undefined && networks.has(address);
  }

  /**
   * The reason, from a small fixed set for the log, why a request does not come from a program on this machine.
   * Undefined if the request is allowed. Skipped if callers authenticate themselves.
   */
  findForeign(res: HttpConnection, req: HttpRequest): string | undefined {
    if (!this.rules.trustsLoopback) return undefined;
    if (res.getProxiedRemoteAddress().byteLength > 0) return describeCarried(PROXY_PROTOCOL, CURE);
    let name = isLoopbackHost(req.getHeader('host')) ? undefined : 'host';
    req.forEach((header) => {
      if (originOf(header) !== undefined) name = header;
    });
    return name === undefined ? undefined : describeCarried(name, CURE);
  }

  /** Undefined if requests are not signed. */
  claim(req: HttpRequest, clock: Clock): SignatureClaim | Unsigned | undefined {
    const { signatures } = this.rules;
    if (signatures === undefined) return undefined;
    return signatures.claim(req.getHeader('sapi-timestamp'), req.getHeader('sapi-signature'), clock.now());
  }

  /**
   * The human-readable address of a refused request, with the peer's address if a proxy forwarded it. Returns a
   * function, because the text may be needed after the headers are gone.
   */
  describe(res: HttpConnection, req: HttpRequest): () => string {
    if (this.rules.proxies === undefined) return () => this.describePeer(res);
    const peer = peerOf(res);
    const caller = this.findCaller(peer, res, req);
    if (caller === peer) return () => nameOf(peer);
    const said =
      caller === undefined ? ` (${JSON.stringify(forwardedFor(req).join(',').slice(0, SAID_LENGTH_MAX))})` : '';
    return () => `${nameOf(caller)}${said} by ${nameOf(peer)}`;
  }

  /** The human-readable remote end of a connection. */
  describePeer(res: HttpConnection): string {
    return nameOf(peerOf(res));
  }

  /** The address from which a request comes; undefined if a trusted proxy provides no valid address. */
  private findCaller(peer: Address | undefined, res: HttpConnection, req: HttpRequest): Address | undefined {
    const { proxies, forwardedBy } = this.rules;
    if (peer === undefined || proxies === undefined || !proxies.has(peer)) return peer;
    if (forwardedBy === FORWARDED_FOR) return behindProxies(peer, forwardedFor(req), proxies);
    // A proxy's own health check carries no client address, so the caller is the proxy.
    const proxied = new Uint8Array(res.getProxiedRemoteAddress());
    return proxied.length === 0 ? peer : addressOf(proxied);
  }
}

function peerOf(res: HttpConnection): Address | undefined {
  return addressOf(new Uint8Array(res.getRemoteAddress()));
}

function nameOf(address: Address | undefined): string {
  return address === undefined ? 'an unreadable address' : formatAddress(address);
}

/**
 * Addresses from all lines of the header, in order, because some proxies add a line of their own below the caller's.
 */
function forwardedFor(req: HttpRequest): string[] {
  const lines: string[] = [];
  req.forEach((name, value) => {
    if (name === FORWARDED_FOR) lines.push(value);
  });
  return lines.flatMap((line) => line.split(','));
}

/**
 * The address of the caller behind trusted proxies. Each proxy appends its peer's address, so reads backwards to the
 * first address that is not a trusted proxy.
 */
function behindProxies(peer: Address, hops: readonly string[], proxies: AddressList): Address | undefined {
  let address: Address | undefined = peer;
  for (let n = hops.length - 1; n >= 0 && address !== undefined && proxies.has(address); n--) {
    address = parseAddress(withoutPort((hops[n] as string).trim()));
  }
  return address;
}

/**
 * Removes a port, brackets and quotation marks. Some proxies append the caller's port (with brackets around an IPv6
 * address) or add quotation marks.
 */
function withoutPort(hop: string): string {
  const [, quoted = hop] = /^"([^"]*)"$/.exec(hop) ?? [];
  const [, bracketed] = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(quoted) ?? [];
  const [, ip4] = /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/.exec(quoted) ?? [];
  return bracketed ?? ip4 ?? quoted;
}

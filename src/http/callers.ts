import type { Clock } from '../base/clock.js';
import { carrierOf, describeCarried, isLoopbackHost, PROXY_PROTOCOL } from '../listener/origin-guard.js';
import { type Address, type AddressList, addressOf, formatAddress, parseAddress } from './address-list.js';
import type { Claim, Signatures, Unsigned } from './signature.js';
import type { HttpRequest, HttpResponse } from './uws.js';

/** Method by which a proxy names its client. */
export type ForwardedBy = 'x-forwarded-for' | 'proxy-protocol';

export interface CallerRules {
  /** Undefined: any address. */
  readonly networks: AddressList | undefined;
  /** Proxies whose statements about their clients are trusted. */
  readonly proxies: AddressList | undefined;
  readonly forwardedBy: ForwardedBy;
  /** Undefined: requests are not signed. */
  readonly signatures: Signatures | undefined;
  /** True: only the loopback binding keeps others out, so requests carried by a browser or a proxy are refused. */
  readonly trustsLoopback: boolean;
}

const CURE = 'without signature.keys or allow.networks only programs of this machine may call (docs/proxies.md)';
/** Characters of a header that the log quotes. */
const SAID_LENGTH_MAX = 100;
const FORWARDED_FOR = 'x-forwarded-for';

/**
 * Rules about allowed callers: docs/decisions.md section 6. Changed rules are a new object, so that each request sees
 * one consistent set.
 */
export class Callers {
  constructor(private readonly rules: CallerRules) {}

  get usesByKey(): Readonly<Record<string, number>> | undefined {
    return this.rules.signatures?.usesByKey;
  }

  /** Takes over the counts, so that counters do not restart with every change of the rules. */
  countFrom({ usesByKey }: Callers): void {
    if (usesByKey !== undefined) this.rules.signatures?.countFrom(usesByKey);
  }

  /** Whether this peer may connect: it is a caller, or a proxy that may speak for one. */
  mayConnect(res: HttpResponse): boolean {
    const { networks, proxies } = this.rules;
    if (networks === undefined) return true;
    const peer = peerOf(res);
    return peer !== undefined && (networks.has(peer) || proxies?.has(peer) === true);
  }

  isAllowed(res: HttpResponse, req: HttpRequest): boolean {
    const { networks } = this.rules;
    if (networks === undefined) return true;
    const address = this.maybeCaller(peerOf(res), res, req);
    return address !== undefined && networks.has(address);
  }

  /**
   * Reason for the log, one of few texts, why a request does not come from a program on this machine; undefined when it
   * may be carried out. Costs nothing when callers prove themselves.
   */
  findForeign(res: HttpResponse, req: HttpRequest): string | undefined {
    if (!this.rules.trustsLoopback) return undefined;
    if (res.getProxiedRemoteAddress().byteLength > 0) return describeCarried(PROXY_PROTOCOL, CURE);
    let name = isLoopbackHost(req.getHeader('host')) ? undefined : 'host';
    req.forEach((header) => {
      if (carrierOf(header) !== undefined) name = header;
    });
    return name === undefined ? undefined : describeCarried(name, CURE);
  }

  /** Undefined when requests are not signed. */
  claim(req: HttpRequest, clock: Clock): Claim | Unsigned | undefined {
    const { signatures } = this.rules;
    if (signatures === undefined) return undefined;
    return signatures.claim(req.getHeader('sapi-timestamp'), req.getHeader('sapi-signature'), clock.now());
  }

  /**
   * For people: address of a refused request, with the peer's when a proxy spoke for it. The text may be needed after
   * the headers are gone.
   */
  describe(res: HttpResponse, req: HttpRequest): () => string {
    if (this.rules.proxies === undefined) return () => this.describePeer(res);
    const peer = peerOf(res);
    const caller = this.maybeCaller(peer, res, req);
    if (caller === peer) return () => nameOf(peer);
    const said =
      caller === undefined ? ` (${JSON.stringify(forwardedFor(req).join(',').slice(0, SAID_LENGTH_MAX))})` : '';
    return () => `${nameOf(caller)}${said} by ${nameOf(peer)}`;
  }

  /** For people: the other end of a connection. */
  describePeer(res: HttpResponse): string {
    return nameOf(peerOf(res));
  }

  /** Address that a request comes from; undefined when a trusted proxy gives no readable address. */
  private maybeCaller(peer: Address | undefined, res: HttpResponse, req: HttpRequest): Address | undefined {
    const { proxies, forwardedBy } = this.rules;
    if (peer === undefined || proxies === undefined || !proxies.has(peer)) return peer;
    if (forwardedBy === FORWARDED_FOR) return behindProxies(peer, forwardedFor(req), proxies);
    // A proxy that checks our health speaks for itself and gives no address.
    const proxied = new Uint8Array(res.getProxiedRemoteAddress());
    return proxied.length === 0 ? peer : addressOf(proxied);
  }
}

function peerOf(res: HttpResponse): Address | undefined {
  return addressOf(new Uint8Array(res.getRemoteAddress()));
}

function nameOf(address: Address | undefined): string {
  return address === undefined ? 'an unreadable address' : formatAddress(address);
}

/** All lines of the header in order: some proxies add their own line below the caller's. */
function forwardedFor(req: HttpRequest): string[] {
  const lines: string[] = [];
  req.forEach((name, value) => {
    if (name === FORWARDED_FOR) lines.push(value);
  });
  return lines.flatMap((line) => line.split(','));
}

/** Each proxy appends its peer. Reads from the end to the first address that is not a trusted proxy. */
function behindProxies(peer: Address, hops: readonly string[], proxies: AddressList): Address | undefined {
  let address: Address | undefined = peer;
  for (let n = hops.length - 1; n >= 0 && address !== undefined && proxies.has(address); n--) {
    address = parseAddress(withoutPort((hops[n] as string).trim()));
  }
  return address;
}

/** Some proxies append the caller's port, then with brackets around an IPv6 address, or add quotation marks. */
function withoutPort(hop: string): string {
  const [, quoted = hop] = /^"([^"]*)"$/.exec(hop) ?? [];
  const [, bracketed] = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(quoted) ?? [];
  const [, ip4] = /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/.exec(quoted) ?? [];
  return bracketed ?? ip4 ?? quoted;
}

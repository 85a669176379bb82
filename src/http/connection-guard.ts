import type { ConnectionCounts } from '../listener/connection-counts.js';
import { ConnectionTable } from '../listener/connection-table.js';
import { addressOf } from './address-list.js';
import type { HttpResponse } from './uws.js';

const IPV4_BYTES = 4;
/** One customer of a provider has all addresses of such a network. */
const IPV6_PREFIX_BYTES = 8;

/**
 * Keeps the callback listener within its limit. The library tells when a connection comes and goes, and not which one goes or
 * which one a request is on; it tells an end only where `onAborted` was called, until a request does so itself. Therefore the
 * table has silent connections alone, and only of addresses from which nothing was asked since: each of these is known to
 * be open, and closing one that has ended would touch freed memory.
 */
export class ConnectionGuard {
  private readonly table: ConnectionTable<HttpResponse>;
  private isEvicting = false;

  constructor(
    connectionsMax: number,
    private readonly counts: ConnectionCounts,
    /** A connection has ended and nothing readable was asked on it. */
    private readonly onUnread: () => void,
  ) {
    this.table = new ConnectionTable({ connectionsMax, perAddressMax: Number.POSITIVE_INFINITY });
  }

  /** A connection has come, the last of so many that are open. Closes it, or an older one, when that is too many. */
  enter(res: HttpResponse, total: number): 'in' | 'refused' {
    const address = keyOf(res);
    const place = this.table.enter(res, address);
    res.onAborted(() => {
      this.table.leave(place);
      if (!this.isEvicting) this.unread();
    });
    const excess = this.table.findExcess(place, total);
    // The address of a connection that is gone already is unknown, and a request on it could not be told.
    if (address === '') this.table.leave(place);
    if (excess === place) this.counts.refused.full++;
    else this.counts.accepted++;
    if (excess === undefined) return 'in';
    if (excess !== place) this.counts.evicted.silent++;
    this.table.leave(excess);
    this.isEvicting = true;
    excess.connection.close();
    this.isEvicting = false;
    return excess === place ? 'refused' : 'in';
  }

  /** First of all with each request: from now on one of the silent connections of its address may end unheard. */
  asked(res: HttpResponse): void {
    if (this.table.size === 0) return;
    const address = keyOf(res);
    if (address === '') this.table.forgetAll();
    else this.table.forgetSilent(address);
  }

  private unread(): void {
    this.counts.unread++;
    this.onUnread();
  }
}

/** Empty where the other end is gone. */
function keyOf(res: HttpResponse): string {
  const bytes = addressOf(new Uint8Array(res.getRemoteAddress())) ?? new Uint8Array();
  return Buffer.from(bytes.length === IPV4_BYTES ? bytes : bytes.subarray(0, IPV6_PREFIX_BYTES)).toString('hex');
}

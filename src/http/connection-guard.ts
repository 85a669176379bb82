import type { ConnectionCounts } from '../listener/connection-counts.js';
import { ConnectionTable } from '../listener/connection-table.js';
import { addressOf } from './address-list.js';
import type { HttpConnection } from './http-port.js';

const IPV4_BYTES = 4;
/**
 * Length of the IPv6 prefix that counts as one address, because providers assign each customer a network of this size.
 */
const IPV6_PREFIX_BYTES = 8;

/**
 * Keeps the callback listener within its connection limit. The library reports that a connection opens or closes, but
 * not which one closes or carries a request. It reports a close only to the handler that `onAborted` set last, and each
 * request sets its own. Therefore the table holds only silent connections from addresses that have sent no request
 * since. Only these are known to be open, and closing an ended connection would access freed memory.
 */
export class ConnectionGuard {
  private readonly table: ConnectionTable<HttpConnection>;
  private isEvicting = false;

  constructor(
    connectionsMax: number,
    private readonly counts: ConnectionCounts,
    /** Called when a connection ends without a valid request. */
    private readonly onUnread: () => void,
  ) {
    this.table = new ConnectionTable({ connectionsMax, perAddressMax: Number.POSITIVE_INFINITY });
  }

  /**
   * Registers a new connection; `total` is the number of open ones. If there are too many, closes the new connection or
   * an older one.
   */
  enter(res: HttpConnection, total: number): 'in' | 'refused' {
    const address = keyOf(res);
    const place = this.table.enter(res, address);
    res.onAborted(() => {
      this.table.leave(place);
      if (!this.isEvicting) this.unread();
    });
    const excess = this.table.findExcess(place, total);
    // The address of a closed connection is unknown, so the table could not attribute a later request to this
    // connection.
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

  /**
   * Registers a request. Must be called before anything else for each request: from then on, a silent connection from
   * this address may end unnoticed.
   */
  asked(res: HttpConnection): void {
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

/** The key of the remote address; empty if the remote end has disconnected. */
function keyOf(res: HttpConnection): string {
  const bytes = addressOf(new Uint8Array(res.getRemoteAddress())) ?? new Uint8Array();
  return Buffer.from(bytes.length === IPV4_BYTES ? bytes : bytes.subarray(0, IPV6_PREFIX_BYTES)).toString('hex');
}

import type { ConnectionCounts } from '../listener/connection-counts.js';
import { ConnectionTable } from '../listener/connection-table.js';
import { addressOf } from './address-list.js';
import type { HttpResponse } from './uws.js';

const IPV4_BYTES = 4;
/** One customer of a provider has all addresses of such a network. */
const IPV6_PREFIX_BYTES = 8;

/**
 * Keeps the callback listener within its limit. The library reports that a connection opens or closes, but not which
 * connection closes or carries a request. It reports a close only to the handler that `onAborted` set last, and each
 * request sets its own. Therefore the table holds only silent connections, of addresses without any request since. Each
 * of these is known to be open; closing an ended connection would touch freed memory.
 */
export class ConnectionGuard {
  private readonly table: ConnectionTable<HttpResponse>;
  private isEvicting = false;

  constructor(
    connectionsMax: number,
    private readonly counts: ConnectionCounts,
    /** Called when a connection ends without a readable request. */
    private readonly onUnread: () => void,
  ) {
    this.table = new ConnectionTable({ connectionsMax, perAddressMax: Number.POSITIVE_INFINITY });
  }

  /**
   * Registers a new connection; `total` counts the open ones. Closes the new connection or an older one when there are
   * too many.
   */
  enter(res: HttpResponse, total: number): 'in' | 'refused' {
    const address = keyOf(res);
    const place = this.table.enter(res, address);
    res.onAborted(() => {
      this.table.leave(place);
      if (!this.isEvicting) this.unread();
    });
    const excess = this.table.findExcess(place, total);
    // The address of a closed connection is unknown, so a request on it could not be attributed.
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

  /** Call this first with each request: from now on a silent connection of this address may end unnoticed. */
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

/** Empty when the other end is gone. */
function keyOf(res: HttpResponse): string {
  const bytes = addressOf(new Uint8Array(res.getRemoteAddress())) ?? new Uint8Array();
  return Buffer.from(bytes.length === IPV4_BYTES ? bytes : bytes.subarray(0, IPV6_PREFIX_BYTES)).toString('hex');
}

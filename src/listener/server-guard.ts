import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { ConnectionCounts } from './connection-counts.js';
import { type ConnectionLimits, ConnectionTable, type Place } from './connection-table.js';

/** Timeouts for listeners whose requests are short and have no body. */
export const BRIEF_TIMEOUTS = {
  headersTimeout: 5000,
  requestTimeout: 5000,
  keepAliveTimeout: 5000,
  connectionsCheckingInterval: 1000,
} as const;

/** Maximum duration of a TLS handshake, which ends before a request begins. */
export const HANDSHAKE_TIMEOUT_MS = 5000;

/**
 * The number of headers needs no limit, because their total size has one. By default, Node silently drops the headers
 * after the first 1,000, so a caller behind a proxy could hide the proxy's header there.
 */
export const HEADERS_COUNT_MAX = 0;

interface Held {
  readonly socket: Socket;
  readonly key: string;
}

/**
 * Opens and closes a `node:http` or `node:https` server. Keeps it within its limits by closing the connections that the
 * table selects.
 */
export class ServerGuard {
  private readonly table: ConnectionTable<Held>;
  /** Keyed by remote address and port, because with TLS a request's socket is not its connection's socket. */
  private readonly places = new Map<string, Place<Held>>();
  private isClosed = false;
  private opening: Promise<unknown> | undefined = undefined;

  constructor(
    private readonly server: Server,
    limits: ConnectionLimits,
    private readonly counts: ConnectionCounts,
  ) {
    this.table = new ConnectionTable(limits);
    server.maxHeadersCount = HEADERS_COUNT_MAX;
    server.on('connection', (socket: Socket) => this.enter(socket));
    server.on('secureConnection', (socket: Socket) => {
      const place = this.findPlace(socket);
      if (place !== undefined) socket.once('close', () => this.leave(place));
    });
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const place = this.findPlace(socket);
      if (place === undefined) return;
      this.table.setStanding(place, 'busy');
      response.once('close', () => this.table.setStanding(place, 'idle'));
    });
  }

  /** Starts listening and resolves to the port. Rejects on failure, and if `close` is called before the port is open. */
  async listen(host: string, port: number): Promise<number> {
    const { server } = this;
    await this.whileOpening(async () => {
      server.listen(port, host);
      await once(server, 'listening');
    });
    return (server.address() as AddressInfo).port;
  }

  /** Opens the server with `open`. `close` waits for this, because a server that is still opening cannot be closed. */
  async whileOpening(open: () => Promise<unknown>): Promise<void> {
    if (!this.isClosed) {
      this.opening = open();
      await this.opening;
    }
    if (this.isClosed) throw new Error('the listener was closed before it was open');
  }

  /**
   * Stops listening and ends all connections. This includes connections whose TLS handshake is unfinished, which the
   * server does not know but would wait for.
   */
  async close(): Promise<void> {
    this.isClosed = true;
    const { server, opening } = this;
    await opening?.catch(() => {});
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    for (const { connection } of this.places.values()) connection.socket.destroy();
    await closed;
  }

  /** The remote end has proved its identity, so its connection no longer counts. */
  trust(socket: Socket): void {
    const place = this.findPlace(socket);
    if (place !== undefined) this.leave(place);
  }

  private enter(socket: Socket): void {
    // The address of a closed connection is unknown.
    const key = keyOf(socket);
    const place = this.table.enter({ socket, key }, socket.remoteAddress ?? 'gone');
    this.places.set(key, place);
    socket.once('close', () => this.leave(place));
    const excess = this.table.findExcess(place);
    if (excess === place) this.counts.refused.full++;
    else this.counts.accepted++;
    if (excess === undefined) return;
    if (excess !== place) this.counts.evicted[excess.standing === 'idle' ? 'idle' : 'silent']++;
    this.leave(excess);
    excess.connection.socket.destroy();
  }

  private leave(place: Place<Held>): void {
    if (place.hasLeft) return;
    this.table.leave(place);
    const { key } = place.connection;
    if (this.places.get(key) === place) this.places.delete(key);
  }

  private findPlace(socket: Socket): Place<Held> | undefined {
    return this.places.get(keyOf(socket));
  }
}

function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

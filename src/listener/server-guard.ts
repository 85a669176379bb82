import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
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

interface Held {
  readonly socket: Socket;
  readonly key: string;
}

/** Keeps a `node:http` or `node:https` server within its limits by closing the connections that the table selects. */
export class ServerGuard {
  private readonly table: ConnectionTable<Held>;
  /** Keyed by remote address and port, because with TLS a request's socket is not its connection's socket. */
  private readonly places = new Map<string, Place<Held>>();

  constructor(
    server: Server,
    limits: ConnectionLimits,
    private readonly counts: ConnectionCounts,
  ) {
    this.table = new ConnectionTable(limits);
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

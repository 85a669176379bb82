import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import type { Logger } from '../base/logger.js';
import type { PeerAddress, PeerEvents, PeerLinks, PeerMessage } from '../cluster/peer-protocol.js';
import { type LinkDeps, PeerLink } from './peer-link.js';

const REDIAL_MS = 100;
/** A packet to a machine that is gone is not answered at all. */
const DIAL_MAX_MS = 500;
const FRAME_BYTES_MAX = 64 * 1024 * 1024;

export interface SocketLinksDeps extends LinkDeps {
  readonly log: Logger;
  readonly events: PeerEvents;
}

interface Dialled {
  readonly address: PeerAddress;
  timer: NodeJS.Timeout | undefined;
  /** Logged once, however often it is dialled. */
  trouble: string | undefined;
}

/** Links over WebSockets. Of two members the one with the greater tag dials, and both use it. */
export class SocketLinks implements PeerLinks {
  private readonly links = new Map<string, PeerLink>();
  private readonly dialled = new Map<string, Dialled>();
  private readonly pending = new Set<PeerLink>();
  private isClosed = false;

  private constructor(
    private readonly server: WebSocketServer,
    private readonly deps: SocketLinksDeps,
  ) {
    server.on('connection', (socket) => this.newLink(socket));
  }

  /** Rejects when it cannot listen there. */
  static async listen({ host, port }: PeerAddress, deps: SocketLinksDeps): Promise<SocketLinks> {
    const server = new WebSocketServer({ host, port, maxPayload: FRAME_BYTES_MAX, perMessageDeflate: false });
    await new Promise<void>((resolve, reject) => {
      server.once('listening', resolve);
      server.once('error', reject);
    });
    server.on('error', (error) => deps.log.error({ error: error.message }, 'the listener for peers has a problem'));
    return new SocketLinks(server, deps);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  keep(peers: ReadonlyMap<string, PeerAddress>): void {
    for (const [tag, address] of peers) if (tag < this.deps.tag && !this.dialled.has(tag)) this.dial(tag, address);
    for (const [tag, { timer }] of this.dialled) {
      if (peers.has(tag)) continue;
      clearTimeout(timer);
      this.dialled.delete(tag);
    }
    for (const [tag, link] of this.links) if (!peers.has(tag)) link.end('it is no member any more');
  }

  isUp(tag: string): boolean {
    return this.links.has(tag);
  }

  send(tag: string, message: PeerMessage): boolean {
    return this.links.get(tag)?.send(message) ?? false;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const { timer } of this.dialled.values()) clearTimeout(timer);
    this.dialled.clear();
    for (const link of [...this.links.values(), ...this.pending]) link.end('this node ends');
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private dial(tag: string, address: PeerAddress): void {
    const dialled: Dialled = { address, timer: undefined, trouble: undefined };
    this.dialled.set(tag, dialled);
    this.dialAgain(tag, dialled);
  }

  private dialAgain(tag: string, dialled: Dialled): void {
    const { host, port } = dialled.address;
    const socket = new WebSocket(`ws://${host.includes(':') ? `[${host}]` : host}:${port}`, {
      handshakeTimeout: DIAL_MAX_MS,
      maxPayload: FRAME_BYTES_MAX,
      perMessageDeflate: false,
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') this.deps.events.onRefused(tag);
    });
    this.newLink(socket, tag);
  }

  private newLink(socket: WebSocket, expected?: string): void {
    const link = new PeerLink(socket, this.deps, {
      onOpen: (link, tag) => this.opened(link, tag, expected),
      onMessage: (tag, message) => {
        if (this.links.get(tag) === link) this.deps.events.onMessage(tag, message);
      },
      onClose: (link, tag, reason) => this.closed(link, tag, reason, expected),
    });
    this.pending.add(link);
  }

  private opened(link: PeerLink, tag: string, expected: string | undefined): void {
    this.pending.delete(link);
    if (expected !== undefined && tag !== expected) {
      this.deps.events.onRefused(expected);
      link.end('another process has its address');
      return;
    }
    const former = this.links.get(tag);
    this.links.set(tag, link);
    former?.end('there is a newer link');
    const dialled = this.dialled.get(tag);
    if (dialled !== undefined) dialled.trouble = undefined;
    this.deps.events.onUp(tag);
  }

  private closed(link: PeerLink, tag: string | undefined, reason: string, expected: string | undefined): void {
    this.pending.delete(link);
    if (tag !== undefined && this.links.get(tag) === link) {
      this.links.delete(tag);
      this.deps.events.onDown(tag);
    }
    if (this.isClosed) return;
    const dialled = expected === undefined ? undefined : this.dialled.get(expected);
    const at = { peer: expected ?? tag, reason };
    if (dialled === undefined) {
      this.deps.log.debug(at, 'a link has ended');
      return;
    }
    if (dialled.trouble !== reason) this.deps.log.info(at, 'no link to a peer: trying again');
    dialled.trouble = reason;
    dialled.timer = setTimeout(() => this.dialAgain(expected as string, dialled), REDIAL_MS);
  }
}

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import type { Logger } from '../base/logger.js';
import { UserError } from '../base/user-error.js';
import type { PeerAddress, PeerEvents, PeerLinks, PeerMessage } from '../cluster/peer-protocol.js';
import type { ConnectionCounts } from '../listener/connection-counts.js';
import { BRIEF_TIMEOUTS, HANDSHAKE_TIMEOUT_MS, ServerGuard } from '../listener/server-guard.js';
import { TLS_CIPHERS } from '../listener/tls-ciphers.js';
import { LINK_PATH, newHandshake } from './encrypted-handshake.js';
import type { Handshake, LinkDeps, Proven } from './handshake.js';
import { OldHandshake } from './old-handshake.js';
import { PeerLink } from './peer-link.js';

const REDIAL_MS = 100;
/** Timeout for dialling, because a dead machine does not answer any packet. */
const DIAL_MAX_MS = 500;
/** Large enough for a callback at the maximum `limits.bodyBytesMax`, with some margin. */
const FRAME_BYTES_MAX = 32 * 1024 * 1024;
/** Limits for connections whose peer has not yet proved that it is a member. */
const UNPROVEN_LIMITS = { connectionsMax: 64, perAddressMax: 32 };
/** Maximum bytes that such a connection may send: a WebSocket request and its hello. */
const UNPROVEN_BYTES_MAX = 16 * 1024;

const LISTENER_TLS = { ciphers: TLS_CIPHERS, handshakeTimeout: HANDSHAKE_TIMEOUT_MS, requestCert: true };

const OLD_PEER = 'peer runs an older release, its frames are not authenticated';
const FORGED = 'received a forged frame, link closed';

/**
 * Certificates in PEM. Each end shows its certificate, and accepts any certificate that one of these authorities
 * signed.
 */
export interface PeerTls {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer;
}

export interface SocketLinksDeps extends Omit<LinkDeps, 'isMember'> {
  /** If undefined, links are plain WebSockets. */
  readonly tls: PeerTls | undefined;
  readonly counts: ConnectionCounts;
  readonly log: Logger;
  readonly events: PeerEvents;
}

interface Dialled {
  readonly tag: string;
  readonly address: PeerAddress;
  timer: NodeJS.Timeout | undefined;
  /** The last problem that was logged. It is not logged again. */
  lastError: string | undefined;
}

/** Links over WebSockets. Of two members, the one with the greater tag dials, and both use the link. */
export class SocketLinks implements PeerLinks {
  private readonly links = new Map<string, PeerLink>();
  private readonly dialled = new Map<string, Dialled>();
  private peers: ReadonlyMap<string, PeerAddress> = new Map();
  /** Peers that should dial this node but do not. Their addresses are probed. */
  private readonly probedAddresses = new Set<string>();
  /** Links that have not completed the handshake. */
  private readonly strangers = new Set<PeerLink>();
  /** Sockets of incoming links. */
  private readonly streams = new WeakMap<PeerLink, Socket>();
  private readonly linkDeps: LinkDeps;
  private readonly server: Server;
  private readonly guard: ServerGuard;
  private tls: PeerTls | undefined;
  private isClosed = false;

  constructor(
    private readonly address: PeerAddress,
    private readonly deps: SocketLinksDeps,
  ) {
    const { tls } = deps;
    this.tls = tls;
    this.linkDeps = { ...deps, isMember: (tag) => this.peers.has(tag) };
    this.server =
      tls === undefined
        ? createServer(BRIEF_TIMEOUTS, refuse)
        : createTlsServer({ ...BRIEF_TIMEOUTS, ...LISTENER_TLS, ...tls }, refuse);
    this.guard = new ServerGuard(this.server, UNPROVEN_LIMITS, deps.counts);
  }

  async listen(): Promise<number> {
    const { server, deps } = this;
    const { host, port } = this.address;
    const opened = await this.guard.listen(host, port).catch(({ message }: Error) => {
      throw new UserError(`cannot listen on ${host}:${port} for other nodes (cluster.host, cluster.port): ${message}`);
    });
    const peers = new WebSocketServer({ server, maxPayload: FRAME_BYTES_MAX, perMessageDeflate: false });
    peers.on('error', (error) =>
      deps.log.error({ code: 'peer-listener-failed', error: error.message }, 'peer listener failed'),
    );
    peers.on('connection', (socket, { socket: stream, url }) => {
      const link = this.newLink(socket, this.listening(url));
      this.streams.set(link, stream);
      this.limit(link, stream);
    });
    return opened;
  }

  keep(peers: ReadonlyMap<string, PeerAddress>): void {
    this.peers = peers;
    for (const [tag, address] of peers) if (tag < this.deps.tag && !this.dialled.has(tag)) this.dial(tag, address);
    for (const [tag, { timer }] of this.dialled) {
      if (peers.has(tag)) continue;
      clearTimeout(timer);
      this.dialled.delete(tag);
    }
    for (const [tag, link] of this.links) if (!peers.has(tag)) link.end('it is no longer a member');
  }

  isUp(tag: string): boolean {
    return this.links.has(tag);
  }

  send(tag: string, message: PeerMessage): boolean {
    return this.links.get(tag)?.send(message) ?? false;
  }

  setCertificate({ cert, key }: Pick<PeerTls, 'cert' | 'key'>): void {
    if (this.tls === undefined) return;
    this.tls = { ...this.tls, cert, key };
    (this.server as TlsServer).setSecureContext({ ...this.tls, ciphers: TLS_CIPHERS });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const { timer } of this.dialled.values()) clearTimeout(timer);
    this.dialled.clear();
    for (const link of [...this.links.values(), ...this.strangers]) link.end('this node ends');
    await this.guard.close();
  }

  private dial(tag: string, address: PeerAddress): void {
    const dialled: Dialled = { tag, address, timer: undefined, lastError: undefined };
    this.dialled.set(tag, dialled);
    this.redial(dialled);
  }

  private redial(dialled: Dialled): void {
    const { tls } = this;
    const { host, port } = dialled.address;
    const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const socket = new WebSocket(`${tls === undefined ? 'ws' : 'wss'}://${authority}${LINK_PATH}`, {
      handshakeTimeout: DIAL_MAX_MS,
      maxPayload: FRAME_BYTES_MAX,
      perMessageDeflate: false,
      // Do not compare host names, because the addresses of nodes change. The secret and a private authority identify
      // nodes instead.
      ...(tls !== undefined && { ...tls, checkServerIdentity: () => false }),
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') this.deps.events.onRefused(dialled.tag);
    });
    this.newLink(socket, newHandshake(this.linkDeps, dialled.tag), dialled);
  }

  private listening(path: string | undefined): Handshake {
    return path === LINK_PATH ? newHandshake(this.linkDeps, undefined) : new OldHandshake(this.linkDeps, 'listens');
  }

  /**
   * Probes the address of a peer that should dial this node. Without the probe, this node would notice a dead peer only
   * by its silence. The probe repeats until the address refuses connections or a link is up.
   */
  private probeAddress(tag: string): void {
    const address = this.peers.get(tag);
    if (this.isClosed || address === undefined || this.links.has(tag) || this.probedAddresses.has(tag)) return;
    this.probedAddresses.add(tag);
    let isRefused = false;
    const { host, port } = address;
    const socket = connect({ host, port });
    socket.setTimeout(DIAL_MAX_MS, () => socket.destroy());
    socket.once('connect', () => socket.destroy());
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      isRefused = code === 'ECONNREFUSED' && !this.links.has(tag);
      if (isRefused) this.deps.events.onRefused(tag);
    });
    socket.once('close', () => {
      this.probedAddresses.delete(tag);
      if (!isRefused) setTimeout(() => this.probeAddress(tag), REDIAL_MS).unref();
    });
  }

  private newLink(socket: WebSocket, handshake: Handshake, dialled?: Dialled): PeerLink {
    const link = new PeerLink(socket, handshake, {
      onOpen: (link, peer) => this.opened(link, peer, dialled),
      onMessage: (tag, message) => {
        if (this.links.get(tag) === link) this.deps.events.onMessage(tag, message);
      },
      onForged: (tag) => this.forged(tag),
      onClose: (link, tag, reason) => this.closed(link, tag, reason, dialled),
    });
    this.strangers.add(link);
    return link;
  }

  /**
   * Limits the bytes received. Frames are delivered only once complete, so without a limit an unknown process could
   * fill memory with an unfinished frame.
   */
  private limit(link: PeerLink, stream: Socket): void {
    const look = () => {
      if (!this.strangers.has(link)) stream.off('data', look);
      else if (stream.bytesRead > UNPROVEN_BYTES_MAX) link.end('it did not send a hello first');
    };
    stream.on('data', look);
  }

  private opened(link: PeerLink, { tag, isOld }: Proven, dialled: Dialled | undefined): void {
    this.strangers.delete(link);
    const stream = this.streams.get(link);
    if (stream !== undefined) this.guard.trust(stream);
    if (dialled !== undefined && !this.isWanted(dialled)) {
      link.end('it is no longer a member');
      return;
    }
    if (dialled !== undefined && tag !== dialled.tag) {
      this.deps.events.onRefused(dialled.tag);
      link.end('another process has its address');
      return;
    }
    const former = this.links.get(tag);
    this.links.set(tag, link);
    if (former !== undefined) {
      former.end('there is a newer link');
      this.deps.events.onDown(tag);
    }
    if (dialled !== undefined) dialled.lastError = undefined;
    if (isOld) this.deps.log.warn({ code: 'link-unauthenticated', peer: tag }, OLD_PEER);
    this.deps.events.onUp(tag);
  }

  private forged(tag: string): void {
    this.deps.counts.forgedFrames++;
    this.deps.log.warn({ code: 'link-forged', peer: tag, page: 'docs/security.md' }, FORGED);
  }

  /**
   * False if a newer dial has replaced this one. A member can leave and return while it is being dialled, and two dials
   * would keep ending each other's links.
   */
  private isWanted(dialled: Dialled): boolean {
    return this.dialled.get(dialled.tag) === dialled;
  }

  private closed(link: PeerLink, tag: string | undefined, reason: string, dialled: Dialled | undefined): void {
    this.strangers.delete(link);
    if (tag !== undefined && this.links.get(tag) === link) {
      this.links.delete(tag);
      this.deps.events.onDown(tag);
    }
    if (this.isClosed) return;
    const at = { peer: dialled?.tag ?? tag, reason };
    if (dialled === undefined || !this.isWanted(dialled)) {
      this.deps.log.debug(at, 'link closed');
      if (tag !== undefined && tag > this.deps.tag) this.probeAddress(tag);
      return;
    }
    if (dialled.lastError !== reason) this.deps.log.info(at, 'cannot link to another node, will retry');
    dialled.lastError = reason;
    dialled.timer = setTimeout(() => this.redial(dialled), REDIAL_MS).unref();
  }
}

/** Refuses every request that is not for a WebSocket, so that it does not occupy a connection. */
function refuse(_: IncomingMessage, response: ServerResponse): void {
  response.writeHead(426, { connection: 'close' }).end();
}

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { APPEND_FUNCTION_NAME } from '../../src/store/redis/append-function.js';

const REPLY_MS = 2000;
export const SLOW_MS = 200;

/**
 * Fault modes of the network. A connection keeps a fault once it has occurred, because TCP does not lose bytes in the middle.
 *
 *   fair              carries everything
 *   silent            no byte arrives, as when a cable is cut: neither end notices
 *   swallow-replies   the server gets requests, but its replies are lost
 *   slow-replies      the server's replies come late
 *   hold-requests     requests are held until they are delivered, even after their client has disconnected
 *   hold-appends      the same, for connections that append to logs
 *   cut-requests      the server gets the beginning of a request, then the connection breaks
 *   cut-replies       the connection breaks instead of the next reply
 */
export type FaultMode =
  | 'fair'
  | 'silent'
  | 'swallow-replies'
  | 'slow-replies'
  | 'hold-requests'
  | 'hold-appends'
  | 'cut-requests'
  | 'cut-replies';

/** TCP proxy on a free port whose connections have a chosen fault mode. */
export class FaultyNetwork {
  faultMode: FaultMode = 'fair';
  /** Number of bytes of a cut request that are delivered. */
  cutBytes = 100;
  private readonly server: Server;
  private readonly links = new Set<Link>();

  private constructor(
    /** The port or Unix socket that new connections lead to. */
    public target: number | string,
  ) {
    this.server = createServer({ noDelay: true }, (client) => {
      const link = new Link(this, client, () => this.links.delete(link));
      this.links.add(link);
    });
  }

  static async start(target: number | string): Promise<FaultyNetwork> {
    const proxy = new FaultyNetwork(target);
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as { port: number }).port;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Breaks all connections, but keeps held requests. */
  cut(): void {
    for (const link of this.links) link.cut();
  }

  /** Delivers the oldest held request. Resolves to the server's reply. */
  async deliverOldest(): Promise<string> {
    const link = [...this.links].find(({ isHolding }) => isHolding);
    if (link === undefined) throw new Error('nothing is held');
    return await link.deliver();
  }

  get holds(): number {
    return [...this.links].filter(({ isHolding }) => isHolding).length;
  }

  close(): void {
    for (const link of this.links) link.destroy();
    this.server.close();
  }
}

/** One connection through the proxy. */
class Link {
  private readonly held: Buffer[] = [];
  private isMuted = false;
  private isCutOff = false;
  private isSlow = false;
  private readonly upstream: Socket;

  constructor(
    private readonly proxy: FaultyNetwork,
    private readonly client: Socket,
    private readonly onClosed: () => void,
  ) {
    const { target } = proxy;
    this.upstream = connect(
      typeof target === 'string' ? { path: target } : { port: target, host: '127.0.0.1', noDelay: true },
    );
    for (const socket of [client, this.upstream]) socket.on('error', () => {});
    client.on('data', (bytes) => this.request(bytes));
    client.on('close', () => {
      if (!this.isHolding) this.upstream.end();
    });
    this.upstream.on('data', (bytes) => this.reply(bytes));
    this.upstream.on('close', () => {
      client.destroy();
      onClosed();
    });
  }

  get isHolding(): boolean {
    return this.held.length > 0;
  }

  cut(): void {
    this.client.destroy();
  }

  destroy(): void {
    this.client.destroy();
    this.upstream.destroy();
    this.onClosed();
  }

  async deliver(): Promise<string> {
    const replied = once(this.upstream, 'data', { signal: AbortSignal.timeout(REPLY_MS) });
    this.upstream.write(Buffer.concat(this.held));
    this.held.length = 0;
    const [bytes] = (await replied) as [Buffer];
    if (this.client.destroyed) this.upstream.end();
    return bytes.toString('latin1');
  }

  private request(bytes: Buffer): void {
    const { faultMode, cutBytes } = this.proxy;
    this.isCutOff ||= faultMode === 'silent';
    if (this.isCutOff) return;
    const isAppend = faultMode === 'hold-appends' && bytes.includes(APPEND_FUNCTION_NAME);
    if (this.isHolding || isAppend || faultMode === 'hold-requests') {
      this.held.push(bytes);
    } else if (faultMode === 'cut-requests') {
      this.upstream.write(bytes.subarray(0, cutBytes));
      this.client.destroy();
    } else {
      this.upstream.write(bytes);
    }
  }

  private reply(bytes: Buffer): void {
    const { faultMode } = this.proxy;
    this.isCutOff ||= faultMode === 'silent';
    if (this.isCutOff) return;
    this.isMuted ||= faultMode === 'swallow-replies';
    this.isSlow ||= faultMode === 'slow-replies';
    if (faultMode === 'cut-replies') this.client.destroy();
    else if (this.isSlow) setTimeout(() => this.pass(bytes), SLOW_MS);
    else this.pass(bytes);
  }

  private pass(bytes: Buffer): void {
    if (!this.isMuted && !this.client.destroyed) this.client.write(bytes);
  }
}

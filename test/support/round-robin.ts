import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * The simplest possible load balancer: each connection goes to the next server in turn or, if that server refuses it,
 * to the one after it. The balancer does not parse HTTP.
 */
export class RoundRobin {
  /** Loopback ports. */
  targets: readonly number[] = [];
  private next = 0;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();

  private constructor() {
    this.server = createServer({ noDelay: true, pauseOnConnect: true }, (client) => this.forward(client, 0));
  }

  /** If `port` is 0, the balancer uses a free port. */
  static async start(port = 0): Promise<RoundRobin> {
    const balancer = new RoundRobin();
    balancer.server.listen(port, '127.0.0.1');
    await once(balancer.server, 'listening');
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as { port: number }).port}`;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }

  private forward(client: Socket, attempts: number): void {
    const port = this.targets[this.next++ % Math.max(1, this.targets.length)];
    if (port === undefined || attempts >= this.targets.length) {
      client.destroy();
      return;
    }
    const upstream = connect({ port, host: '127.0.0.1', noDelay: true });
    upstream.once('error', () => this.forward(client, attempts + 1));
    upstream.once('connect', () => {
      upstream.removeAllListeners('error');
      this.join(client, upstream);
      this.join(upstream, client);
      client.resume();
    });
  }

  private join(from: Socket, to: Socket): void {
    this.sockets.add(from);
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this.sockets.delete(from);
      to.end();
    });
    from.pipe(to);
  }
}

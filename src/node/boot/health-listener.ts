import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { UserError } from '../../base/user-error.js';
import type { Settings } from '../../config/schema.js';
import { UNCACHED } from '../../listener/answer-headers.js';
import type { ConnectionCounts } from '../../listener/connection-counts.js';
import { BRIEF_TIMEOUTS, ServerGuard } from '../../listener/server-guard.js';
import type { Readiness } from '../../threads/wallet-service.js';

/**
 * A load balancer needs only one or two connections. The limits ensure that unknown clients cannot use up the file
 * descriptors of the other listeners.
 */
const CONNECTION_LIMITS = { connectionsMax: 1000, perAddressMax: 500 };

/**
 * Serves only `/livez` and `/readyz`, without a token, because load balancers cannot keep one. Listens from the start
 * of the process until its end. Only the operator API reports the state of each shard.
 */
export class HealthListener {
  private constructor(
    private readonly guard: ServerGuard,
    readonly port: number,
  ) {}

  /**
   * Opens the listener; returns undefined if the settings name none. Rejects with a readable message if the port is in
   * use.
   */
  static async openIfSet({ host, port }: Settings['health'], readiness: () => Readiness, counts: ConnectionCounts) {
    if (port === null) return undefined;
    const server = createServer(BRIEF_TIMEOUTS, (request, response) => answer(request, response, readiness()));
    const guard = new ServerGuard(server, CONNECTION_LIMITS, counts);
    const opened = await guard.listen(host, port).catch(({ message }: Error) => {
      throw new UserError(`cannot listen on ${host}:${port} for load balancers (health.host, health.port): ${message}`);
    });
    return new HealthListener(guard, opened);
  }

  async close(): Promise<void> {
    await this.guard.close();
  }
}

function answer({ method, url }: IncomingMessage, response: ServerResponse, readiness: Readiness): void {
  const [status, body] = method === 'GET' || method === 'HEAD' ? healthAt(url, readiness) : [405, 'method not allowed'];
  response.writeHead(status, {
    'Content-Type': 'application/json',
    ...UNCACHED,
    // Close the connection, because the body of an unexpected request is not read.
    Connection: 'close',
    ...(status === 503 && { 'Retry-After': '1' }),
    ...(status === 405 && { Allow: 'GET, HEAD' }),
  });
  response.end(JSON.stringify({ status: body }));
}

function healthAt(url: string | undefined, readiness: Readiness): readonly [status: number, body: string] {
  // Ignore the query string: some load balancers add one to bypass caches.
  const path = url?.replace(/\?.*$/, '');
  if (path === '/livez') return [200, 'ok'];
  if (path === '/readyz') return [readiness === 'ready' ? 200 : 503, readiness];
  return [404, 'not found'];
}

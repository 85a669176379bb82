import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { cannotListen } from '../../admin/cannot-listen.js';
import type { Settings } from '../../config/schema.js';
import { UNCACHED } from '../../listener/answer-headers.js';
import type { ConnectionCounts } from '../../listener/connection-counts.js';
import { BRIEF_TIMEOUTS, HANDSHAKE_TIMEOUT_MS, ServerGuard } from '../../listener/server-guard.js';
import { TLS_CIPHERS } from '../../listener/tls-ciphers.js';
import type { Tls } from '../settings/tls.js';

const STATUS: Readonly<Record<string, readonly [status: number, body: object]>> = {
  '/livez': [200, { status: 'ok' }],
  '/readyz': [503, { status: 'starting', shards: [] }],
};
const CONNECTION_LIMITS = { connectionsMax: 1000, perAddressMax: 500 };
const ELSEWHERE = {
  type: 'about:blank',
  title: 'Service Unavailable',
  status: 503,
  detail: 'the server is starting',
  code: 'starting',
};

/**
 * Reserves the operator API's port before the store is opened. If the port is in use, the process stops before it
 * creates a store. Answers a supervisor's `/livez` requests during a long wait for the store.
 */
export class EarlyListener {
  private constructor(private readonly guard: ServerGuard | undefined) {}

  /**
   * Opens the listener. Rejects with a readable message if the port is in use. Does not listen if the port is 0,
   * because the system then chooses the operator API's port.
   */
  static async open(
    { host, port }: Pick<Settings['admin'], 'host' | 'port'>,
    tls: Tls | undefined,
    counts: ConnectionCounts,
  ) {
    if (port === 0) return new EarlyListener(undefined);
    const server =
      tls === undefined
        ? createHttpServer(BRIEF_TIMEOUTS, answer)
        : createHttpsServer({ ...BRIEF_TIMEOUTS, ...tlsOf(tls) }, answer);
    const guard = new ServerGuard(server, CONNECTION_LIMITS, counts);
    await guard.listen(host, port).catch((error: Error) => {
      throw cannotListen(host, port, error);
    });
    return new EarlyListener(guard);
  }

  async close(): Promise<void> {
    await this.guard?.close();
  }
}

function tlsOf({ certificate, key }: Tls) {
  return { cert: certificate, key, ciphers: TLS_CIPHERS, handshakeTimeout: HANDSHAKE_TIMEOUT_MS };
}

const answer: RequestListener = (request, response) => {
  const [status, body] = STATUS[(request.url ?? '').replace(/\?.*$/, '')] ?? [503, ELSEWHERE];
  const type = status === 503 && body === ELSEWHERE ? 'application/problem+json' : 'application/json';
  response.writeHead(status, { ...UNCACHED, 'Content-Type': type, 'Retry-After': '1', Connection: 'close' });
  response.end(JSON.stringify(body));
};

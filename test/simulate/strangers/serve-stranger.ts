import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:http';

/** The request of the platform, as an operator reads it. */
export interface Callback {
  readonly endpoint: string;
  readonly id: string;
  readonly productId: string;
  readonly username: string;
  readonly currency: string;
  readonly txns: readonly Txn[];
}

/** The body of a request. Only checkBalance has no elements. */
type Sent = Omit<Callback, 'endpoint' | 'txns'> & Partial<Pick<Callback, 'txns'>>;

export interface Txn {
  readonly id: string;
  readonly refId: string;
  readonly roundId: string;
  readonly status: string;
  readonly betAmount: number;
  readonly payoutAmount: number;
  readonly amount: number;
}

/** HTTP answer of an operator. */
export interface Page {
  readonly status: number;
  readonly type: 'application/json' | 'text/html';
  readonly text: string;
}

export interface Stranger {
  readonly url: string;
  /** Closes the port and all connections, as the end of the operator's process does. */
  readonly end: () => Promise<void>;
  /** Opens the same port again, as a supervisor that restarts the process does. */
  readonly begin: () => Promise<void>;
}

/**
 * The port range below the one from which the system takes ports for connections. A connection attempt to a closed port
 * of that range can end up connected to itself.
 */
const PORT_MIN = 10_000;
const PORT_MAX = 30_000;
export const OPENING_BALANCE = 1000;
const NO_ELEMENTS = { txns: [] };

/** Serves an operator on a free port of 127.0.0.1. `gone` resolves when the platform closes the connection. */
export async function serveStranger(
  handle: (callback: Callback, gone: Promise<void>) => Promise<Page | 'hang up'>,
): Promise<Stranger> {
  let server: Server;
  let port = 0;
  const begin = async () => {
    server = createServer(async (request, response) => {
      let body = '';
      try {
        for await (const chunk of request) body += chunk;
      } catch {
        return;
      }
      const endpoint = (request.url ?? '').slice(1);
      const gone = new Promise<void>((resolve) => response.once('close', resolve));
      const page = await handle({ ...NO_ELEMENTS, ...(JSON.parse(body) as Sent), endpoint }, gone);
      if (page === 'hang up') response.destroy();
      else response.writeHead(page.status, { 'Content-Type': page.type }).end(page.text);
    });
    port = port === 0 ? await listenOnFreePort(server) : await listen(server, port);
  };
  const end = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  await begin();
  return { url: `http://127.0.0.1:${port}`, end, begin };
}

/** The answer of the interface, as JSON. */
export function json(callback: Callback, statusCode: number | string, more: object = {}): Page {
  const { id, productId } = callback;
  const fields = { id, statusCode, timestampMillis: Date.now(), productId, ...more };
  return { status: 200, type: 'application/json', text: JSON.stringify(fields) };
}

async function listenOnFreePort(server: Server): Promise<number> {
  for (;;) {
    try {
      return await listen(server, randomInt(PORT_MIN, PORT_MAX));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(port));
  });
}

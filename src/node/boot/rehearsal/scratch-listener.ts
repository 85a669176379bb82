import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { silentLogger } from '../../../base/logger.js';
import { statusCodesOf } from '../../../callback/failures.js';
import type { Settings } from '../../../config/schema.js';
import { Callers } from '../../../http/callers.js';
import { newCounts } from '../../../listener/connection-counts.js';
import { CallbackMetrics } from '../../metrics/callback-metrics.js';
import { type CallbackServerDeps, makeCallbackServer } from '../listeners.js';
import { CONNECTIONS, type Play, type ScratchListener } from './rehearse-shards.js';

const HOST = '127.0.0.1';

const CALLERS = new Callers({
  networks: undefined,
  proxies: undefined,
  forwardedBy: 'x-forwarded-for',
  signatures: undefined,
  trustsLoopback: true,
});

/**
 * Opens a listener with these settings, but on a free loopback port and without TLS and signatures, and the connections
 * to it that a rehearsal uses.
 */
export async function openScratchListener(
  settings: Settings,
  deps: Pick<CallbackServerDeps, 'codec' | 'library' | 'meta' | 'service'>,
): Promise<ScratchListener> {
  const server = makeCallbackServer(
    { ...settings, host: HOST, port: 0 },
    {
      ...deps,
      tls: undefined,
      callers: CALLERS,
      aliases: new Map(),
      observer: new CallbackMetrics(statusCodesOf(settings.statusCodes.closed)),
      counts: newCounts().callbacks,
      tracer: undefined,
      log: silentLogger,
    },
  );
  const port = await server.listen();
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => connected(port)));
  const play: Play = async (connection, requests) => {
    const socket = sockets[connection] as Socket;
    for (const { endpoint, text } of requests) {
      // The settings may allow fewer connections than a rehearsal opens.
      if (socket.destroyed) return;
      const head = `POST /${endpoint} HTTP/1.1\r\nHost: ${HOST}\r\nContent-Type: application/json\r\n`;
      socket.write(`${head}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
      // An answer is far shorter than a packet, so it arrives in one piece.
      await answered(socket);
    }
  };
  return {
    play,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

async function connected(port: number): Promise<Socket> {
  const socket = connect({ host: HOST, port, noDelay: true });
  await once(socket, 'connect');
  socket.on('error', () => {});
  return socket;
}

/** Resolves once the socket has an answer or is closed. */
function answered(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('data', done).off('close', done);
      resolve();
    };
    socket.on('data', done).on('close', done);
  });
}

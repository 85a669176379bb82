import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A range of ports to try. It ends below the ephemeral ports (32768 and up on Linux), because an outgoing connection
 * could take one of those before the server listens.
 */
const FIRST = 10_000;
const LAST = 32_000;

/** Returns a loopback port that has no listener. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

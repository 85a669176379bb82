import { once } from 'node:events';
import { createServer } from 'node:net';

/** A server that answers every command with an INFO reply for this version. */
export async function startFakeRedis(version: string): Promise<{ url: string; close: () => void }> {
  const info = `redis_version:${version}\r\nrole:master\r\n`;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => socket.write(`$${info.length}\r\n${info}\r\n`));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return { url: `redis://127.0.0.1:${port}`, close: () => server.close() };
}

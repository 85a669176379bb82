import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface RawOptions {
  /** The address of this machine that it comes from. */
  readonly from?: string;
  readonly to?: string;
  /** Between the parts. */
  readonly pauseMs?: number;
  /** For answers after the last part. */
  readonly waitMs?: number;
}

/** Writes the parts into one connection; resolves to all that came back until the other side closed, or the wait ended. */
export async function rawRequest(
  url: string,
  parts: readonly (string | Buffer)[],
  { from = '127.0.0.1', to = '127.0.0.1', pauseMs = 50, waitMs = 300 }: RawOptions = {},
): Promise<string> {
  const socket = connect({ port: Number(new URL(url).port), host: to, localAddress: from });
  let received = '';
  socket.on('data', (data) => {
    received += data.toString();
  });
  const closed = new Promise<void>((resolve) => {
    socket.on('error', () => resolve());
    socket.on('close', () => resolve());
  });
  for (const part of parts) {
    socket.write(part);
    await delay(pauseMs);
  }
  await Promise.race([closed, delay(waitMs)]);
  socket.destroy();
  return received;
}

/** The bytes of a POST. */
export function postOf(path: string, body: string, headers: readonly string[] = []): string {
  const lines = [`POST ${path} HTTP/1.1`, 'Host: x', `Content-Length: ${Buffer.byteLength(body)}`, ...headers];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** HTTP status and statusCode of each answer that came over a connection. */
export function answersIn(received: string): [status: number, statusCode: number][] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) [\s\S]*?"statusCode":(\d+)/g)].map(([, status, statusCode]) => [
    Number(status),
    Number(statusCode),
  ]);
}

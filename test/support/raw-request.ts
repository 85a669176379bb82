import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface RawOptions {
  /** Local address of the connection. */
  readonly from?: string;
  readonly to?: string;
  /** Pause between the parts. */
  readonly pauseMs?: number;
  /** Silence after which an answer is considered complete if the server keeps the connection open. */
  readonly quietMs?: number;
}

const SILENT_MAX_MS = 30_000;

/**
 * Writes the parts to one connection. Resolves to all bytes received until the server closes the connection or falls
 * silent.
 */
export async function rawRequest(
  url: string,
  parts: readonly (string | Buffer)[],
  { from = '127.0.0.1', to = '127.0.0.1', pauseMs = 50, quietMs = 300 }: RawOptions = {},
): Promise<string> {
  const socket = connect({ port: Number(new URL(url).port), host: to, localAddress: from });
  let received = '';
  let isClosed = false;
  let changedMs = Date.now();
  socket.on('data', (data) => {
    received += data.toString();
    changedMs = Date.now();
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
  });
  for (const part of parts) {
    socket.write(part);
    await delay(pauseMs);
  }
  changedMs = Date.now();
  while (!isClosed && Date.now() - changedMs < (received === '' ? SILENT_MAX_MS : quietMs)) await delay(10);
  socket.destroy();
  return received;
}

/** Bytes of a POST request. */
export function postOf(path: string, body: string, headers: readonly string[] = []): string {
  const lines = [`POST ${path} HTTP/1.1`, 'Host: localhost', `Content-Length: ${Buffer.byteLength(body)}`, ...headers];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** HTTP status and statusCode of each answer received on a connection. */
export function answersIn(received: string): [status: number, statusCode: number][] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) [\s\S]*?"statusCode":(\d+)/g)].map(([, status, statusCode]) => [
    Number(status),
    Number(statusCode),
  ]);
}

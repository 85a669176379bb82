/**
 * The only file that loads uWebSockets.js, which is not on the npm registry under its own name. package.json gets the
 * binaries from `uws-pack`; the official source can replace it there and here. The library runs only on the main
 * thread, because an exception in a worker thread that hosts it ends the whole process.
 */
import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { messageOf } from '../base/message-of.js';
import { TLS12_CIPHERS } from '../listener/tls-ciphers.js';

// uWebSockets reads this variable when it loads. Without the variable, it answers headers over 4 KB with 431.
process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= '16384';

/** Error that the user can fix, so only one sentence is printed. */
class NoBinaryError extends Error {
  override readonly name = 'NoBinaryError';
}

const uws = await import('uWebSockets.js').catch((error: unknown) => {
  if (!/supports only Node|Cannot find module/.test(messageOf(error))) throw error;
  const { version, platform, arch } = process;
  throw new NoBinaryError(
    `uWebSockets.js has no binary for Node ${version} on ${platform} ${arch}: use Node 20 or 22, ` +
      'or take it from its own repository (docs/operations.md, Node)',
  );
});
const { LIBUS_LISTEN_EXCLUSIVE_PORT } = uws as unknown as { LIBUS_LISTEN_EXCLUSIVE_PORT: number };

export const { us_listen_socket_close, us_socket_local_port } = uws;
export type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';

export interface TlsFiles {
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** Creates an app, with TLS if certificate files are given. Throws without a reason if the files are invalid. */
export function createApp(tls: TlsFiles | undefined): TemplatedApp {
  if (tls === undefined) return uws.App();
  return uws.SSLApp({ cert_file_name: tls.certificateFile, key_file_name: tls.keyFile, ssl_ciphers: TLS12_CIPHERS });
}

/** Methods that the library has but its types lack. */
interface Descriptors {
  getDescriptor(): number;
  addChildAppDescriptor(descriptor: number): void;
  removeChildAppDescriptor(descriptor: number): void;
}

/**
 * Assigns connections that `acceptor` accepts to `next` instead of `former`. The library can replace a certificate only
 * for a server name, which a client that connects by IP address does not send. Instead, an app with the new certificate
 * takes over.
 */
export function handConnectionsTo(next: TemplatedApp, acceptor: TemplatedApp, former: TemplatedApp): void {
  const descriptorOf = (app: TemplatedApp) => (app as unknown as Descriptors).getDescriptor();
  const listening = acceptor as unknown as Descriptors;
  if (former !== acceptor) listening.removeChildAppDescriptor(descriptorOf(former));
  listening.addChildAppDescriptor(descriptorOf(next));
}

/**
 * Listens, or throws on failure. By default, uWebSockets shares a port with a process that already listens there, and
 * each server would get half of the requests.
 */
export function listenExclusively(app: TemplatedApp, host: string, port: number): us_listen_socket {
  let socket: us_listen_socket | false = false;
  // The library accepts these four arguments, but its types do not.
  const listen = app.listen.bind(app) as unknown as (
    host: string,
    port: number,
    options: number,
    callback: (socket: us_listen_socket | false) => void,
  ) => void;
  listen(host, port, LIBUS_LISTEN_EXCLUSIVE_PORT, (listening) => {
    socket = listening;
  });
  if (!socket)
    throw new Error(
      `cannot listen on ${host}:${port} for callbacks (host, port): the port is taken, or the address is not ours`,
    );
  return socket;
}

/**
 * The only file that loads uWebSockets.js, which is not on the npm registry under its own name. Other packages on the
 * registry contain its binaries. `@uwsjs/linux-x64-24` and similar packages have those of 2026, each for one platform
 * and one Node version, and need glibc 2.38 or later. `uws-pack` has those of 2024, for Node 20 and 22. The library
 * runs only on the main thread, because an exception in a worker thread that hosts it ends the whole process.
 */

import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { createRequire } from 'node:module';
import { messageOf } from '../base/message-of.js';
import { TLS12_CIPHERS } from '../listener/tls-ciphers.js';
import type { HttpApp, HttpLibrary } from './http-port.js';

const require = createRequire(import.meta.url);

type Uws = typeof import('uWebSockets.js') & { readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number };

/** Methods that the library has but its types lack. */
interface Descriptors {
  getDescriptor(): number;
  addChildAppDescriptor(descriptor: number): void;
  removeChildAppDescriptor(descriptor: number): void;
}

/** `causes` lists, for each package, why it does not load. */
export type LoadedUws = { readonly library: HttpLibrary } | { readonly causes: readonly string[] };

interface UwsPackage {
  readonly name: string;
  readonly load: () => Promise<unknown>;
}

const [major] = process.versions.node.split('.');
const binary = `@uwsjs/${process.platform}-${process.arch}-${major}`;

/** Packages that contain binaries of the library, newest first. */
const PACKAGES: readonly UwsPackage[] = [
  // Uses `require`, because Node 20 ends the process if an imported CommonJS module throws, even if the rejection is
  // handled.
  { name: binary, load: async () => require(binary) },
  { name: 'uws-pack', load: () => import('uWebSockets.js') },
];

/** Loads the newest package that has a binary for this machine and this Node. */
export async function loadUws(packages = PACKAGES): Promise<LoadedUws> {
  // The library reads this variable when it loads. Without it, the library answers 431 to headers over 4 KB.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= '16384';
  const causes: string[] = [];
  for (const { name, load } of packages) {
    try {
      return { library: libraryOf(name, (await load()) as Uws) };
    } catch (error) {
      causes.push(`${name}: ${causeOf(error)}`);
    }
  }
  return { causes };
}

/**
 * The library's own message blames the Node version even if the C library is too old. The real cause follows that
 * message.
 */
function causeOf(error: unknown): string {
  const paragraphs = messageOf(error).split('\n\n');
  const [line = ''] = (paragraphs.at(-1) as string).split('\n');
  return line.replace(/^Error: /, '');
}

function libraryOf(name: string, uws: Uws): HttpLibrary {
  return {
    name,
    /** The library throws without a reason if the files are invalid. */
    createApp(tls) {
      if (tls === undefined) return uws.App();
      return uws.SSLApp({
        cert_file_name: tls.certificateFile,
        key_file_name: tls.keyFile,
        ssl_ciphers: TLS12_CIPHERS,
      });
    },
    /**
     * The library can replace a certificate only for a server name, which a client that connects by IP address does not
     * send. Instead, an app with the new certificate takes over.
     */
    handConnectionsTo(next, acceptor, former) {
      const descriptorOf = (app: HttpApp) => (app as unknown as Descriptors).getDescriptor();
      const listening = acceptor as unknown as Descriptors;
      if (former !== acceptor) listening.removeChildAppDescriptor(descriptorOf(former));
      listening.addChildAppDescriptor(descriptorOf(next));
    },
    /**
     * By default, the library shares a port with a process that already listens there, and each gets half of the
     * connections.
     */
    async listen(app, host, port) {
      let socket: us_listen_socket | false = false;
      // The library accepts these four arguments, but its types do not.
      const listen = (app as TemplatedApp).listen.bind(app) as unknown as (
        host: string,
        port: number,
        options: number,
        callback: (socket: us_listen_socket | false) => void,
      ) => void;
      listen(host, port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (listening) => {
        socket = listening;
      });
      const opened = socket as us_listen_socket | false;
      if (opened === false) return undefined;
      return { port: uws.us_socket_local_port(opened), close: () => uws.us_listen_socket_close(opened) };
    },
  };
}

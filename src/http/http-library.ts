import type { Logger } from '../base/logger.js';
import { UserError } from '../base/user-error.js';
import type { HttpApp, HttpLibrary, ListeningSocket } from './http-port.js';
import { NODE_HTTP } from './node-http.js';
import { loadUws } from './uws.js';

/** `auto` selects uWebSockets.js if one of its binaries loads, and Node's own HTTP otherwise. */
export type HttpLibraryChoice = 'auto' | 'uws' | 'node';

/** Measured in docs/performance.md. */
const COSTS = '8 to 10 us more of the main thread for each callback';

/** Loads the library that serves callbacks, and logs its name. */
export async function loadHttpLibrary(choice: HttpLibraryChoice, log: Logger): Promise<HttpLibrary> {
  const uws = choice === 'node' ? undefined : await loadUws();
  if (uws !== undefined && 'library' in uws) {
    log.info({ library: uws.library.name }, 'HTTP library of callbacks loaded');
    return uws.library;
  }
  if (uws === undefined) {
    log.info({ library: NODE_HTTP.name, costs: COSTS }, 'HTTP library of callbacks loaded');
    return NODE_HTTP;
  }
  const { version, platform, arch } = process;
  const why = `no binary of uWebSockets.js loads in Node ${version} on ${platform} ${arch} (${uws.causes.join('; ')})`;
  if (choice === 'uws')
    throw new UserError(`httpLibrary is uws, but ${why}: set it to auto (docs/operations.md, Node)`);
  log.warn(
    { code: 'http-library-slow', library: NODE_HTTP.name, costs: COSTS, why, page: 'docs/operations.md' },
    "Node's own HTTP serves callbacks, because no faster library loads",
  );
  return NODE_HTTP;
}

/** Listens, or throws on failure. */
export async function mustListen(
  library: HttpLibrary,
  app: HttpApp,
  host: string,
  port: number,
): Promise<ListeningSocket> {
  const socket = await library.listen(app, host, port);
  if (socket === undefined)
    throw new UserError(
      `cannot listen on ${host}:${port} for callbacks (host, port): the port is in use, or the address is not one of this machine`,
    );
  return socket;
}

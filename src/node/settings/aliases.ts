import { ENDPOINTS } from '../../callback/callbacks.js';
import { ConfigError } from '../../config/config-error.js';
import type { Settings } from '../../config/schema.js';
import type { Endpoint } from '../../wallet/command.js';

/**
 * Matches paths that the HTTP library compares literally. Excludes patterns, and paths that the library would
 * normalize.
 */
const PATH = /^(\/[A-Za-z0-9._~-]+)+$/;

/**
 * Additional endpoint paths: the configured aliases, and every endpoint path with the configured prefix. Throws a
 * `ConfigError`.
 */
export function aliasesOf({ callbacks }: Pick<Settings, 'callbacks'>): ReadonlyMap<string, Endpoint> {
  const aliases = ownAliases(callbacks);
  const { prefix } = callbacks;
  if (prefix === null) return aliases;
  if (!PATH.test(prefix)) {
    throw new ConfigError(
      `callbacks.prefix is ${JSON.stringify(prefix)}: it is letters, digits, ., _, ~ and - after each /, and does not end with /`,
    );
  }
  const paths = [...ENDPOINTS.map((endpoint) => [`/${endpoint}`, endpoint] as const), ...aliases];
  return new Map([...aliases, ...paths.map(([path, endpoint]) => [prefix + path, endpoint] as const)]);
}

function ownAliases(callbacks: Settings['callbacks']): ReadonlyMap<string, Endpoint> {
  return new Map(
    Object.entries(callbacks.aliases).map(([path, target]) => {
      if (!PATH.test(path)) {
        throw new ConfigError(
          `callbacks.aliases has ${JSON.stringify(path)}: a path is letters, digits, ., _, ~ and - after each /`,
        );
      }
      const own = ENDPOINTS.find((endpoint) => path === `/${endpoint}`);
      if (own !== undefined) throw new ConfigError(`callbacks.aliases has ${path}, which is itself an endpoint`);
      const endpoint = ENDPOINTS.find((one) => one === target);
      if (endpoint === undefined) {
        throw new ConfigError(
          `callbacks.aliases has ${path} for ${JSON.stringify(target)}, which is not an endpoint: the endpoints are ${ENDPOINTS.join(', ')}`,
        );
      }
      return [path, endpoint];
    }),
  );
}

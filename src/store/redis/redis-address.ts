import type { RedisOptions } from 'ioredis';

/** Where a Redis is. `options` hold its password; `name` is for people and does not. */
export interface RedisAddress {
  readonly name: string;
  readonly options: RedisOptions;
}

const SCHEME = /^(redis|rediss|redis\+sentinel):\/\//;
const PORT = 6379;
const SENTINEL_PORT = 26_379;
const PORT_MAX = 65_535;

/**
 * `redis://user:password@host:port/database`, `rediss://…` for TLS, `redis+sentinel://user:password@host:port,host:port/name/database`.
 * Undefined when the text is none of these.
 */
export function maybeRedisAddress(text: string): RedisAddress | undefined {
  const scheme = SCHEME.exec(text)?.[1];
  if (scheme === undefined) return undefined;
  const rest = /^(?:([^@/]*)@)?([^@/]+)((?:\/[^/]*)*)$/.exec(text.slice(scheme.length + 3));
  if (rest === null) return undefined;
  const [, login = '', hosts = '', path = ''] = rest;
  const isSentinel = scheme === 'redis+sentinel';
  const segments = path.split('/').slice(1);
  const name = isSentinel ? segments.shift() : undefined;
  const database = segments.shift() ?? '';
  const servers = hosts.split(',').map((host) => maybeServer(host, isSentinel ? SENTINEL_PORT : PORT));
  const credentials = maybeCredentials(login);
  if (segments.length > 0 || !/^\d{0,4}$/.test(database) || servers.includes(undefined) || credentials === undefined) {
    return undefined;
  }
  if (isSentinel ? name === undefined || name === '' : servers.length > 1) return undefined;
  return {
    name: `${scheme}://${hosts}${path}`,
    options: {
      ...(isSentinel ? { sentinels: servers as Server[], name: name as string } : (servers[0] as Server)),
      ...credentials,
      ...(scheme === 'rediss' ? { tls: {} } : {}),
      db: Number(database),
    },
  };
}

interface Server {
  readonly host: string;
  readonly port: number;
}

function maybeServer(text: string, defaultPort: number): Server | undefined {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text);
  if (match === null) return undefined;
  const [, host = '', port = String(defaultPort)] = match;
  if (Number(port) > PORT_MAX) return undefined;
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** `user:password`, `:password` or nothing, each part percent-encoded. */
function maybeCredentials(login: string): Pick<RedisOptions, 'username' | 'password'> | undefined {
  try {
    const [username = '', password = ''] = login.split(/:(.*)/s).map(decodeURIComponent);
    if (username !== '' && password === '') return undefined;
    return { ...(username === '' ? {} : { username }), ...(password === '' ? {} : { password }) };
  } catch {
    return undefined;
  }
}

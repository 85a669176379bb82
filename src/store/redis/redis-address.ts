import type { RedisOptions } from 'ioredis';

/** The address of a Redis server. `servers` contain its password. `name` is human-readable and does not. */
export interface RedisAddress {
  readonly name: string;
  /** One entry per master, possibly behind sentinels. For a cluster, the servers to ask for its masters. */
  readonly servers: readonly [RedisOptions, ...RedisOptions[]];
  readonly isCluster: boolean;
}

const SCHEME = /^(rediss?(?:\+sentinel|\+cluster)?):\/\//;
const PORT = 6379;
const SENTINEL_PORT = 26_379;
const PORT_MAX = 65_535;

/**
 * Parses a Redis address:
 * `redis://user:password@host:port/database`, `rediss://…` for TLS,
 * `redis+sentinel://user:password@host:port,host:port/name,name/database?sentinel=user:password`,
 * `redis+cluster://user:password@host:port,host:port`, `rediss+sentinel://…` and `rediss+cluster://…`. Undefined if the
 * text has none of these forms. The sentinels' own user and password are optional. `rediss+sentinel` is TLS to the
 * sentinels and to the servers.
 */
export function parseRedisAddress(text: string): RedisAddress | undefined {
  const scheme = SCHEME.exec(text)?.[1];
  if (scheme === undefined) return undefined;
  const rest = /^(?:([^@/]*)@)?([^@/]+)((?:\/[^/?]*)*)(?:\?sentinel=([^/?]+))?$/.exec(text.slice(scheme.length + 3));
  if (rest === null) return undefined;
  const [, login = '', hosts = '', path = '', sentinelLogin] = rest;
  const isSentinel = scheme.endsWith('+sentinel');
  if (sentinelLogin !== undefined && !isSentinel) return undefined;
  const places = allOrNone(hosts.split(',').map((host) => tryPlace(host, isSentinel ? SENTINEL_PORT : PORT)));
  const credentials = tryCredentials(login);
  const sentinelCredentials = tryCredentials(sentinelLogin ?? '');
  if (places === undefined || credentials === undefined || sentinelCredentials === undefined) return undefined;
  const common = {
    ...credentials,
    ...(scheme.startsWith('rediss') ? tlsOptions(isSentinel) : {}),
    ...sentinelOptions(sentinelCredentials),
  };
  const servers = tryServers(scheme, places, path.split('/').slice(1));
  if (servers === undefined) return undefined;
  const [first, ...others] = servers.map((server) => ({ ...server, ...common }));
  if (first === undefined) return undefined;
  return { name: `${scheme}://${hosts}${path}`, servers: [first, ...others], isCluster: scheme.endsWith('+cluster') };
}

function tlsOptions(isSentinel: boolean): RedisOptions {
  return { tls: {}, ...(isSentinel ? { sentinelTLS: {}, enableTLSForSentinelMode: true } : {}) };
}

function sentinelOptions({ username, password }: Credentials): RedisOptions {
  return {
    ...(username === undefined ? {} : { sentinelUsername: username }),
    ...(password === undefined ? {} : { sentinelPassword: password }),
  };
}

type Credentials = Pick<RedisOptions, 'username' | 'password'>;

interface Place {
  readonly host: string;
  readonly port: number;
}

/** Combines the places with the path as the scheme requires; undefined if they do not fit together. */
function tryServers(scheme: string, places: readonly Place[], path: readonly string[]): RedisOptions[] | undefined {
  if (scheme.endsWith('+cluster')) return path.join('') === '' && path.length <= 1 ? [...places] : undefined;
  const isSentinel = scheme.endsWith('+sentinel');
  const [names, database = '', ...more] = isSentinel ? path : ['', ...path];
  if (more.length > 0 || !/^\d{0,4}$/.test(database)) return undefined;
  const db = Number(database);
  if (!isSentinel) return places.length === 1 ? [{ ...places[0], db }] : undefined;
  const masters = names?.split(',') ?? [''];
  if (masters.includes('') || new Set(masters).size < masters.length) return undefined;
  return masters.map((name) => ({ sentinels: [...places], name, db }));
}

function tryPlace(text: string, defaultPort: number): Place | undefined {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text);
  if (match === null) return undefined;
  const [, host = '', port = String(defaultPort)] = match;
  if (Number(port) > PORT_MAX) return undefined;
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

function allOrNone<T>(items: readonly (T | undefined)[]): readonly T[] | undefined {
  return items.includes(undefined) ? undefined : (items as readonly T[]);
}

/** Parses `user:password`, `:password` or nothing, each part percent-encoded. */
function tryCredentials(login: string): Credentials | undefined {
  try {
    const [username = '', password = ''] = login.split(/:(.*)/s).map(decodeURIComponent);
    if (username !== '' && password === '') return undefined;
    return { ...(username === '' ? {} : { username }), ...(password === '' ? {} : { password }) };
  } catch {
    return undefined;
  }
}
